// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import org.hibernate.Session;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.orm.jpa.hibernate.SessionHolder;
import org.springframework.orm.jpa.support.OpenEntityManagerInViewInterceptor;
import org.springframework.test.context.TestPropertySource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.StringUtils;
import org.springframework.web.context.request.ServletWebRequest;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.OnPersistenceContext;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.starter.OpenInViewTests.Item;
import io.github.lockstarter.transaction.TransactionAwareLockRegistry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A persistence context that was opened before a lock, and each reaction to it.
 */
@OpenInViewApplication
@ExtendWith(OutputCaptureExtension.class)
class PersistenceContextTests {

	private static final String OPEN = " is acquired while a persistence context is open";

	private static final String ISOLATED = OPEN + ". To read fresh data, the body runs without it";

	private static final String STALE = OPEN + ", and entities that it read before may be stale";

	private static final LockRequest SHELF = LockRequest.of("shelf");

	@Autowired
	private Shelf shelf;

	@Autowired
	private LockTemplate lock;

	@Autowired
	private LockRegistry registry;

	@Autowired
	private EntityManager entityManager;

	@Autowired
	private EntityManagerFactory factory;

	@Autowired
	private PlatformTransactionManager manager;

	@Autowired
	private Events events;

	@BeforeEach
	void fill() {
		new TransactionTemplate(this.manager).executeWithoutResult((status) -> this.entityManager.merge(new Item()));
		this.events.late.clear();
	}

	@AfterEach
	void nothingIsLeftOnTheThread() {
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
		assertThat(TransactionSynchronizationManager.isSynchronizationActive()).isFalse();
	}

	@Test
	void aMethodReadsFreshData() {
		inView(() -> {
			readAndLetAnotherTake();
			this.shelf.take();
			this.shelf.take();
		});
		assertThat(count()).isEqualTo(7);
		assertThat(this.events.late).isEmpty();
	}

	@Test
	void isolationThatIsIntendedIsNotWarnedOf(CapturedOutput output) {
		inView(() -> {
			readAndLetAnotherTake();
			take(template(OnPersistenceContext.ISOLATE), LockRequest.of("quiet", 1));
		});
		assertThat(count()).isEqualTo(8);
		assertThat(output).doesNotContain(OPEN);
		assertThat(this.events.late).isEmpty();
	}

	@Test
	void theOuterContextComesBackAndStillManagesItsEntity() {
		inView(() -> {
			Item item = readAndLetAnotherTake();
			this.shelf.take(() -> assertThat(this.entityManager.contains(item)).isFalse());
			assertThat(this.entityManager.find(Item.class, 1L)).isSameAs(item);
			assertThat(item.count).isEqualTo(10);
			new TransactionTemplate(this.manager).executeWithoutResult((status) -> this.entityManager.refresh(item));
			assertThat(item.count).isEqualTo(8);
		});
	}

	@Test
	void theOuterContextComesBackAfterAnException() {
		inView(() -> {
			Item item = readAndLetAnotherTake();
			assertThatExceptionOfType(ArithmeticException.class).isThrownBy(() -> this.shelf.take(() -> {
				throw new ArithmeticException();
			}));
			assertThat(this.entityManager.contains(item)).isTrue();
		});
		assertThat(count()).isEqualTo(9);
	}

	@Test
	void theOuterContextIsBackBeforeTheRelease() {
		inView(() -> {
			Object outer = TransactionSynchronizationManager.getResource(this.factory);
			this.events.openAtRelease.clear();
			this.shelf.take();
			assertThat(this.events.openAtRelease).singleElement().isSameAs(outer);
		});
	}

	@Test
	void theOuterContextIsBackAfterABodyThatHasClosedItsLease() {
		inView(() -> {
			Object outer = TransactionSynchronizationManager.getResource(this.factory);
			this.lock.executeWithoutResult(SHELF,
					(lease) -> new TransactionTemplate(this.manager).executeWithoutResult((status) -> {
						this.entityManager.find(Item.class, 1L).count--;
						lease.close();
						assertThat(TransactionSynchronizationManager.getResource(this.factory)).isNotSameAs(outer);
					}));
			assertThat(TransactionSynchronizationManager.getResource(this.factory)).isSameAs(outer);
			this.lock.executeWithoutResult(SHELF, (lease) -> CompletableFuture.runAsync(lease::close).join());
			assertThat(TransactionSynchronizationManager.getResource(this.factory)).isSameAs(outer);
		});
		assertThat(count()).isEqualTo(9);
	}

	@Test
	void theOuterContextTakesThePlaceOfOneThatTheBodyHasLeft() {
		EntityManagerHolder left = new EntityManagerHolder(this.factory.createEntityManager());
		inView(() -> {
			Object outer = TransactionSynchronizationManager.getResource(this.factory);
			this.lock.executeWithoutResult(SHELF,
					(lease) -> TransactionSynchronizationManager.bindResource(this.factory, left));
			assertThat(TransactionSynchronizationManager.getResource(this.factory)).isSameAs(outer);
		});
		left.getEntityManager().close();
	}

	@Test
	void allContextsAreTakenFromTheThreadAndOtherResourcesAreNot() {
		SessionHolder session = new SessionHolder(this.factory.createEntityManager().unwrap(Session.class));
		TransactionSynchronizationManager.bindResource("second", session);
		TransactionSynchronizationManager.bindResource("other", "resource");
		inView(() -> {
			this.lock.executeWithoutResult(SHELF,
					(lease) -> assertThat(TransactionSynchronizationManager.getResourceMap())
						.containsOnlyKeys("other"));
			assertThat(isOpen()).isTrue();
		});
		assertThat(TransactionSynchronizationManager.unbindResource("second")).isSameAs(session);
		TransactionSynchronizationManager.unbindResource("other");
		session.getEntityManager().close();
	}

	@Test
	void insideAScopeWithoutATransactionTheBodyIsOnlyWarnedOf(CapturedOutput output) {
		TransactionTemplate scope = new TransactionTemplate(this.manager);
		scope.setPropagationBehavior(TransactionDefinition.PROPAGATION_SUPPORTS);
		scope.executeWithoutResult((status) -> {
			Item item = readAndLetAnotherTake();
			template(OnPersistenceContext.DEFAULT).executeWithoutResult(SHELF,
					(lease) -> assertThat(this.entityManager.contains(item)).isTrue());
			assertThat(this.entityManager.contains(item)).isTrue();
		});
		assertThat(output).contains("Lock 'shelf'" + STALE);
		assertThat(this.events.late).hasSize(1);
	}

	@Test
	void withWarnTheBodyReadsStaleData(CapturedOutput output) {
		LockTemplate warned = template(OnPersistenceContext.WARN);
		inView(() -> {
			readAndLetAnotherTake();
			take(warned, SHELF);
			take(warned, SHELF);
		});
		assertThat(count()).isEqualTo(8);
		assertThat(StringUtils.countOccurrencesOf(output.toString(), STALE)).isOne();
		assertThat(output).contains("Lock 'shelf'" + STALE, "entityManager.refresh(entity)");
		assertThat(this.events.late).hasSize(2)
			.contains(new LockEvent.Late(SHELF.key(), LockMode.EXCLUSIVE, "memory",
					"while a persistence context is open", null));
	}

	@Test
	void withFailTheLockIsNotEvenWaitedFor() {
		Lease others = this.registry.acquireAsync(SHELF).join();
		LockTemplate failing = template(OnPersistenceContext.FAIL);
		inView(() -> assertThatIllegalStateException().isThrownBy(() -> take(failing, SHELF))
			.withMessageContaining("Lock 'shelf' must not be acquired while a persistence context is open")
			.withMessageContaining("spring.jpa.open-in-view=false"));
		others.close();
		take(failing, SHELF);
		assertThat(count()).isEqualTo(9);
	}

	@Test
	void withIgnoreTheBodyReadsStaleDataSilently(CapturedOutput output) {
		inView(() -> {
			readAndLetAnotherTake();
			take(template(OnPersistenceContext.IGNORE), SHELF);
		});
		assertThat(count()).isEqualTo(9);
		assertThat(output).doesNotContain(STALE);
		assertThat(this.events.late).isEmpty();
	}

	@Test
	void aTemplateDoesTheSameAndWarnsOnceForEachName(CapturedOutput output) {
		LockTemplate template = template(OnPersistenceContext.DEFAULT);
		inView(() -> {
			readAndLetAnotherTake();
			take(template, LockRequest.of("book", 1));
			take(template.withOnLost(OnLost.LOG), LockRequest.of("book", 2));
			take(template, LockRequest.of("pen", 1));
		});
		assertThat(StringUtils.countOccurrencesOf(output.toString(), "Lock 'book'" + ISOLATED)).isOne();
		assertThat(output).contains("Lock 'pen'" + ISOLATED);
		assertThat(this.events.late).isEmpty();
		assertThat(count()).isEqualTo(6);
	}

	@Test
	void aHandlerThatRunsWithoutTheLockKeepsTheContext() {
		Lease others = this.registry.acquireAsync(SHELF).join();
		inView(() -> assertThat(this.lock.<Boolean>executeOrElse(SHELF.withWaitTime(Duration.ZERO), (lease) -> false,
				(failure) -> isOpen()))
			.isTrue());
		others.close();
	}

	@Test
	void aRegistryHasNoBodyAndWarns(CapturedOutput output) {
		inView(() -> {
			this.registry.acquire(SHELF).close();
			this.registry.lock(LockRequest.of("rack").key()).lock();
			this.registry.lock(LockRequest.of("rack").key()).unlock();
		});
		assertThat(output).contains("Lock 'shelf'" + STALE, "Lock 'rack'" + STALE);
		assertThat(this.events.late).hasSize(2);
	}

	@Test
	void aReentrantLockKeepsTheContextThatWasOpenedUnderIt(CapturedOutput output) {
		this.lock.executeWithoutResult(SHELF, (lease) -> inView(() -> {
			Item item = this.entityManager.find(Item.class, 1L);
			this.shelf.take(() -> assertThat(this.entityManager.contains(item)).isTrue());
		}));
		assertThat(output).doesNotContain(OPEN);
		assertThat(count()).isEqualTo(9);
	}

	@Test
	void anotherLockIsYoungerThanTheContext() {
		this.lock.executeWithoutResult(LockRequest.of("rack"), (lease) -> inView(() -> {
			readAndLetAnotherTake();
			this.shelf.take();
		}));
		assertThat(count()).isEqualTo(8);
	}

	@Test
	void aLockOfAnotherRegistryIsYoungerThanTheContextAsWell() {
		try (DefaultLockRegistry other = new DefaultLockRegistry(new MemoryLockStore())) {
			LockTemplate elsewhere = new LockTemplate(new TransactionAwareLockRegistry("elsewhere", other,
					OnActiveTransaction.DEFAULT, OnPersistenceContext.DEFAULT, this.events));
			elsewhere.executeWithoutResult(SHELF, (lease) -> inView(() -> {
				readAndLetAnotherTake();
				this.shelf.take();
			}));
		}
		assertThat(count()).isEqualTo(8);
	}

	@Test
	void withoutAnOpenContextNothingIsSaid(CapturedOutput output) {
		this.shelf.take();
		assertThat(output).doesNotContain(OPEN);
		assertThat(count()).isEqualTo(9);
	}

	@Test
	void insideATransactionTheTransactionIsLate(CapturedOutput output) {
		new TransactionTemplate(this.manager).executeWithoutResult((status) -> {
			readAndLetAnotherTake();
			this.shelf.take();
		});
		assertThat(count()).isEqualTo(9);
		assertThat(output).doesNotContain(OPEN).contains("Lock 'shelf' is acquired inside a transaction");
	}

	private Item readAndLetAnotherTake() {
		Item item = this.entityManager.find(Item.class, 1L);
		CompletableFuture.runAsync(() -> this.shelf.take()).join();
		return item;
	}

	private void take(LockTemplate lock, LockRequest request) {
		lock.executeWithoutResult(request, (lease) -> new TransactionTemplate(this.manager)
			.executeWithoutResult((status) -> this.entityManager.find(Item.class, 1L).count--));
	}

	private LockTemplate template(OnPersistenceContext reaction) {
		return new LockTemplate(
				new TransactionAwareLockRegistry("memory", ((TransactionAwareLockRegistry) this.registry).delegate(),
						OnActiveTransaction.DEFAULT, reaction, this.events));
	}

	private boolean isOpen() {
		return TransactionSynchronizationManager.hasResource(this.factory);
	}

	private int count() {
		return new TransactionTemplate(this.manager).execute((status) -> this.entityManager.find(Item.class, 1L).count);
	}

	private void inView(Runnable work) {
		inView(this.factory, work);
	}

	/** As open-in-view does for a web request. */
	static void inView(EntityManagerFactory factory, Runnable work) {
		OpenEntityManagerInViewInterceptor view = new OpenEntityManagerInViewInterceptor();
		view.setEntityManagerFactory(factory);
		ServletWebRequest request = new ServletWebRequest(new MockHttpServletRequest());
		view.preHandle(request);
		try {
			work.run();
		}
		finally {
			view.afterCompletion(request, null);
		}
	}

	@Nested
	@TestPropertySource(properties = "distributed-lock.persistence-context=fail")
	class WithThePropertyFail {

		@Test
		void whatDoesNotChooseIsRefused() {
			inView(() -> {
				assertThatIllegalStateException().isThrownBy(() -> PersistenceContextTests.this.shelf.take());
				assertThatIllegalStateException().isThrownBy(() -> take(PersistenceContextTests.this.lock, SHELF));
				assertThatIllegalStateException()
					.isThrownBy(() -> PersistenceContextTests.this.registry.acquire(SHELF));
				assertThatIllegalStateException()
					.isThrownBy(() -> PersistenceContextTests.this.registry.lock(SHELF.key()).lock());
			});
		}

	}

	static class Events implements LockListener {

		private final List<LockEvent.Late> late = new CopyOnWriteArrayList<>();

		private final List<Object> openAtRelease = new CopyOnWriteArrayList<>();

		@Override
		public void onEvent(LockEvent event) {
			if (event instanceof LockEvent.Late tooLate) {
				this.late.add(tooLate);
			}
			if (event instanceof LockEvent.Released) {
				TransactionSynchronizationManager.getResourceMap()
					.values()
					.stream()
					.filter(EntityManagerHolder.class::isInstance)
					.forEach(this.openAtRelease::add);
			}
		}

	}

	static class Shelf {

		private final EntityManager entityManager;

		Shelf(EntityManager entityManager) {
			this.entityManager = entityManager;
		}

		@DistributedLock(name = "shelf")
		@Transactional
		public void take() {
			decrement();
		}

		@DistributedLock(name = "shelf")
		@Transactional
		public void take(Runnable inside) {
			decrement();
			inside.run();
		}

		private void decrement() {
			this.entityManager.find(Item.class, 1L).count--;
		}

	}

}
