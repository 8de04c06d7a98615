// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.kotlin

import java.io.IOException
import java.util.Date
import java.util.concurrent.CompletableFuture

import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatExceptionOfType
import org.assertj.core.api.Assertions.assertThatIllegalArgumentException
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

import org.springframework.context.annotation.AnnotationConfigApplicationContext

import io.github.lockstarter.DistributedLock
import io.github.lockstarter.Lease
import io.github.lockstarter.LeaseSet
import io.github.lockstarter.LockKey
import io.github.lockstarter.LockRequest
import io.github.lockstarter.LockTemplate
import io.github.lockstarter.engine.DefaultLockRegistry
import io.github.lockstarter.interceptor.InvalidLockDefinitionException
import io.github.lockstarter.memory.MemoryLockStore
import io.github.lockstarter.spring.EnableDistributedLocks

/**
 * What an application in Kotlin writes.
 */
@Tag("full")
class KotlinTests {

	private val request = LockRequest.of("stock", 1001)

	private val both = listOf(request, LockRequest.of("stock", 1002))

	@Test
	fun bodiesWithAResult() = locked { template ->
		val token: Long = template.execute(request) { lease -> lease.fencingToken() }
		assertThat(token).isPositive()
		assertThat(template.execute(request) { it.isHeld }).isTrue()
		assertThat(template.execute(request, { lease -> lease.isHeld })).isTrue()
		template.execute(request) { println("locked") }
		val count: Int = template.execute(both) { leases -> leases.all().size }
		assertThat(count).isEqualTo(2)
		assertThat(template.execute(both, { leases -> leases.isHeld })).isTrue()
	}

	@Test
	fun bodiesWhoseResultIsNull() = locked { template ->
		val nothing: String? = template.execute(request) { null }
		val ofBoth: String? = template.execute(both) { null }
		val checked: String? = template.executeChecked<String?, IOException>(request) { null }
		val otherwise: String? = template.executeOrElse(request, { null }, { reason -> reason.message })
		val later: CompletableFuture<String?> = template.executeAsync(request) {
			CompletableFuture.completedFuture<String?>(null)
		}
		assertThat(listOf(nothing, ofBoth, checked, otherwise, later.join())).containsOnlyNulls()
	}

	@Test
	fun bodiesWithoutAResult() = locked { template ->
		template.executeWithoutResult(request) { lease -> lease.ensureHeld() }
		template.executeWithoutResult(request, { lease -> lease.ensureHeld() })
		template.executeWithoutResult(both) { leases -> leases.ensureHeld() }
		template.executeWithoutResult(both, { leases -> leases.ensureHeld() })
		template.executeWithoutResult(request) { it.all().size }
	}

	@Test
	fun bodiesOrElseAHandler() = locked { template ->
		val text: String = template.executeOrElse(request, { "body" }, { reason -> reason.message!! })
		assertThat(text).isEqualTo("body")
		assertThat(template.executeOrElse(request, { lease -> lease.isHeld }) { false }).isTrue()
		assertThat(template.executeOrElse(both, { leases -> leases.all().size }, { 0 })).isEqualTo(2)
		assertThat(template.executeOrElse(both, { leases -> leases.all().size }) { 0 }).isEqualTo(2)
	}

	@Test
	fun bodiesThatThrow() = locked { template ->
		assertThatExceptionOfType(IOException::class.java).isThrownBy {
			template.executeChecked<String, IOException>(request) { throw IOException() }
		}
		val held: Boolean = template.executeChecked<Boolean, IOException>(request, { lease -> lease.isHeld })
		assertThat(held).isTrue()
		val count: Int = template.executeChecked<Int, IOException>(both) { leases -> leases.all().size }
		assertThat(count).isEqualTo(2)
		assertThat(template.executeChecked<Int, IOException>(both, { leases -> leases.all().size })).isEqualTo(2)
		assertThat(template.executeChecked<String, IOException>(request, { "body" }, { "otherwise" })).isEqualTo("body")
		assertThat(template.executeChecked<String, IOException>(both, { "body" }) { "otherwise" }).isEqualTo("body")
	}

	@Test
	fun bodiesInAFuture() = locked { template ->
		val later: CompletableFuture<String> = template.executeAsync(request) { CompletableFuture.completedFuture("later") }
		assertThat(later.join()).isEqualTo("later")
		val token = template.executeAsync(request, { lease -> CompletableFuture.completedFuture(lease.fencingToken()) })
		assertThat(token.join()).isPositive()
		val count = template.executeAsync(both) { leases -> CompletableFuture.completedFuture(leases.all().size) }
		assertThat(count.join()).isEqualTo(2)
		val orElse: CompletableFuture<String> = template.executeAsyncOrElse(request,
			{ CompletableFuture.completedFuture("body") }, { CompletableFuture.completedFuture("otherwise") })
		assertThat(orElse.join()).isEqualTo("body")
		val ofBoth: CompletableFuture<String> = template.executeAsyncOrElse(both,
			{ CompletableFuture.completedFuture("body") }) { CompletableFuture.completedFuture("otherwise") }
		assertThat(ofBoth.join()).isEqualTo("body")
	}

	@Test
	fun leasesAreUsedAndClosed() {
		DefaultLockRegistry(MemoryLockStore()).use { registry ->
			registry.acquire(request).use { lease -> assertThat(lease.isHeld).isTrue() }
			registry.acquireAll(both).use { leases -> assertThat(leases.isHeld).isTrue() }
		}
	}

	@Test
	fun aDataClassIsAKeyIfItsTextIsTheSameInEachJvm() {
		assertThat(LockKey.of("stock", Place("north", 7)).key()).isEqualTo("Place(region=north, shelf=7)")
		for (shelf in listOf(Any(), setOf(1, 2), Date(), arrayOf(1))) {
			assertThatIllegalArgumentException().isThrownBy { LockKey.of("stock", Place("north", shelf)) }
			assertThatIllegalArgumentException().isThrownBy { LockKey.of("stock", Pair("north", shelf)) }
		}
	}

	@Test
	fun aValueClassIsTheSameKeyWhereverItIsPassed() {
		assertThat(LockKey.of("order", OrderId(7)).key()).isEqualTo("7")
		assertThat(LockKey.of("order", Pair(OrderId(7), Place("north", OrderId(8)))).key())
			.isEqualTo("(OrderId(value=7), Place(region=north, shelf=OrderId(value=8)))")
		assertThatIllegalArgumentException().isThrownBy { LockKey.of("order", Priced(Price(1.5))) }
		AnnotationConfigApplicationContext(Orders::class.java, Locks::class.java, MemoryLockStore::class.java).use { context ->
			val orders = context.getBean(Orders::class.java)
			val keys = listOf(orders.ofOrder(OrderId(7)), orders.ofOrderOrNull(OrderId(7)), orders.ofOrders(listOf(OrderId(7))))
			assertThat(keys).containsOnly(LockKey.of("order", 7))
			val counts = listOf(orders.ofCount(UInt.MAX_VALUE), orders.ofCountOrNull(UInt.MAX_VALUE))
			assertThat(counts).containsOnly(LockKey.of("order", -1))
		}
	}

	@Test
	fun aResultThatDoesNothingUntilItIsAskedIsRefused() {
		for (bean in listOf(ReturningAFunction::class, ReturningASequence::class, ReturningALazy::class)) {
			assertThatExceptionOfType(InvalidLockDefinitionException::class.java)
				.isThrownBy {
					AnnotationConfigApplicationContext(bean.java, Locks::class.java, MemoryLockStore::class.java).close()
				}
				.withMessageContaining("lets the work begin or continue")
		}
	}

	@Test
	fun anOpenClassIsLocked() {
		AnnotationConfigApplicationContext(Stock::class.java, Locks::class.java, MemoryLockStore::class.java).use { context ->
			assertThat(context.getBean(Stock::class.java).deduct(1001)).isEqualTo(LockKey.of("stock", 1001))
		}
	}

	@Test
	fun aSuspendFunctionIsRefused() {
		assertThatExceptionOfType(InvalidLockDefinitionException::class.java)
			.isThrownBy {
				AnnotationConfigApplicationContext(Suspending::class.java, Locks::class.java, MemoryLockStore::class.java).close()
			}
			.withMessageContaining("a suspend function")
	}

	private fun locked(bodies: (LockTemplate) -> Unit) = DefaultLockRegistry(MemoryLockStore()).use { bodies(LockTemplate(it)) }

	private data class Place(val region: String, val shelf: Any)

	@JvmInline
	value class OrderId(val value: Long)

	@JvmInline
	value class Price(private val amount: Double)

	private data class Priced(val price: Price)

	open class Orders {

		@DistributedLock(name = "order", key = "#id")
		open fun ofOrder(id: OrderId): LockKey = Lease.current().key()

		@DistributedLock(name = "order", key = "#id")
		open fun ofOrderOrNull(id: OrderId?): LockKey = Lease.current().key()

		@DistributedLock(name = "order", key = "#ids")
		open fun ofOrders(ids: List<OrderId>): LockKey = LeaseSet.current().all().single().key()

		@DistributedLock(name = "order", key = "#count")
		open fun ofCount(count: UInt): LockKey = Lease.current().key()

		@DistributedLock(name = "order", key = "#count")
		open fun ofCountOrNull(count: UInt?): LockKey = Lease.current().key()

	}

	open class ReturningAFunction {

		@DistributedLock(name = "stock")
		open fun deduct() = { 1 }

	}

	open class ReturningASequence {

		@DistributedLock(name = "stock")
		open fun deduct() = sequenceOf(1)

	}

	open class ReturningALazy {

		@DistributedLock(name = "stock")
		open fun deduct() = lazy { 1 }

	}

	@EnableDistributedLocks
	open class Locks

	open class Stock {

		@DistributedLock(name = "stock", key = "#productId")
		open fun deduct(productId: Long): LockKey = Lease.current().key()

	}

	open class Suspending {

		@DistributedLock(name = "stock")
		open suspend fun deduct(): Int = 1

	}

}
