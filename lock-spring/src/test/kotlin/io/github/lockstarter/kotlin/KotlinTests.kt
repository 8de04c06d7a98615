// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.kotlin

import java.io.IOException
import java.util.concurrent.CompletableFuture

import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatExceptionOfType
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

import org.springframework.context.annotation.AnnotationConfigApplicationContext

import io.github.lockstarter.DistributedLock
import io.github.lockstarter.Lease
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

	@Test
	fun allFormsOfTheTemplate() {
		DefaultLockRegistry(MemoryLockStore()).use { registry ->
			val template = LockTemplate(registry)
			val token: Long = template.execute(request) { lease -> lease.fencingToken() }
			assertThat(token).isPositive()
			template.execute(request) { println("locked") }
			template.executeWithoutResult(request) { lease -> lease.ensureHeld() }
			val text: String = template.executeOrElse(request, { "body" }, { reason -> reason.message!! })
			assertThat(text).isEqualTo("body")
			assertThatExceptionOfType(IOException::class.java).isThrownBy {
				template.executeChecked<String, IOException>(request) { throw IOException() }
			}
			val later: CompletableFuture<String> = template.executeAsync(request) { CompletableFuture.completedFuture("later") }
			assertThat(later.join()).isEqualTo("later")
			val both = listOf(request, LockRequest.of("stock", 1002))
			val count: Int = template.execute(both) { leases -> leases.all().size }
			assertThat(count).isEqualTo(2)
			registry.acquire(request).use { lease -> assertThat(lease.isHeld).isTrue() }
			registry.acquireAll(both).use { leases -> assertThat(leases.isHeld).isTrue() }
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
