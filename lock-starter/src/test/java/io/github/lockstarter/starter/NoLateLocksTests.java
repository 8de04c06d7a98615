// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import java.util.concurrent.CompletableFuture;

import jakarta.persistence.EntityManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.test.NoLateLocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;
import static org.junit.platform.testkit.engine.EventConditions.finishedWithFailure;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.instanceOf;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.message;

/**
 * The rule for tests of applications fails the tests that it should, and no other.
 */
class NoLateLocksTests {

	@Test
	void aLockInsideATransactionFailsTheTest() {
		assertFails("lateInTransaction", "Locks were acquired late: 'shelf' inside the transaction '"
				+ Shop.class.getName() + ".buy'. What was read before may be stale");
	}

	@Test
	void aLockInsideATransactionOnAnotherThreadFailsTheTest() {
		assertFails("lateOnAnotherThread", "'shelf' inside the transaction");
	}

	@Test
	void aLockInsideAPersistenceContextFailsTheTest() {
		assertFails("lateInPersistenceContext", "'shelf' while a persistence context is open");
	}

	@Test
	void aTransactionThatTheApplicationBeginsInsideThatOfTheTestCounts() {
		assertFails("lateBesideTheTransactionOfTheTest", "'shelf' inside the transaction '" + Shop.class.getName());
	}

	@Test
	void theTransactionOfTheTestItselfDoesNotCount() {
		assertPasses("insideTheTransactionOfTheTest");
	}

	@Test
	void aLockThatIsAcquiredFirstPasses() {
		assertPasses("lockFirst");
		assertPasses("isolated");
	}

	private static void assertFails(String method, String message) {
		run(method).assertThatEvents()
			.haveExactly(1, finishedWithFailure(instanceOf(AssertionError.class),
					message((text) -> text.contains(message) && text.contains("on-active-transaction=defer"))));
	}

	private static void assertPasses(String method) {
		assertThat(run(method).succeeded().count()).isOne();
	}

	private static Events run(String method) {
		return run(Cases.class, method);
	}

	private static Events run(Class<?> test, String method) {
		return EngineTestKit.engine("junit-jupiter").selectors(selectMethod(test, method)).execute().testEvents();
	}

	@OpenInViewApplication
	@ExtendWith(NoLateLocks.class)
	static class Cases {

		@Autowired
		private Shop shop;

		@Autowired
		private Shelf shelf;

		@Autowired
		private LockRegistry registry;

		@Autowired
		private EntityManagerFactory factory;

		@Test
		void lateInTransaction() {
			this.shop.buy();
		}

		@Test
		void lateOnAnotherThread() {
			CompletableFuture.runAsync(this.shop::buy).join();
		}

		@Test
		void lateInPersistenceContext() {
			inPersistenceContext(() -> this.registry.acquire(LockRequest.of("shelf")).close());
		}

		@Test
		@Transactional
		void lateBesideTheTransactionOfTheTest() {
			this.shop.buyInNewTransaction();
		}

		@Test
		@Transactional
		void insideTheTransactionOfTheTest() {
			this.shelf.take();
			this.shop.buy();
		}

		@Test
		void lockFirst() {
			this.shelf.take();
		}

		@Test
		void isolated() {
			inPersistenceContext(this.shelf::take);
		}

		private void inPersistenceContext(Runnable work) {
			EntityManagerHolder open = new EntityManagerHolder(this.factory.createEntityManager());
			TransactionSynchronizationManager.bindResource(this.factory, open);
			work.run();
			TransactionSynchronizationManager.unbindResource(this.factory);
			open.getEntityManager().close();
		}

	}

	static class Shop {

		private final Shelf shelf;

		Shop(Shelf shelf) {
			this.shelf = shelf;
		}

		@Transactional
		public void buy() {
			this.shelf.take();
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void buyInNewTransaction() {
			this.shelf.take();
		}

	}

	static class Shelf {

		@DistributedLock(name = "shelf")
		@Transactional
		public void take() {
		}

	}

}
