// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceException;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The connection that a session of Hibernate has acquired before the lock, with a pool
 * that is smaller than the number of callers.
 */
@OpenInViewApplication
class OpenInViewConnectionTests {

	private static final int CALLERS = 6;

	private static final LockRequest SHELF = LockRequest.of("shelf");

	@Autowired
	private LockRegistry registry;

	@Autowired
	private LockTemplate lock;

	@Autowired
	private EntityManager entityManager;

	@Autowired
	private EntityManagerFactory factory;

	@Autowired
	private TransactionTemplate transactions;

	@Autowired
	private DataSource dataSource;

	@BeforeEach
	void fill() {
		this.transactions.executeWithoutResult((status) -> {
			this.entityManager.merge(new Parcels(1L));
			this.entityManager.merge(new Parcels(2L));
		});
	}

	@AfterEach
	void noConnectionIsLeftBehind() {
		assertThat(activeConnections()).isZero();
	}

	@Test
	void waitersLeaveConnectionsForTheHolder(@Autowired MockMvcTester mvc, @Autowired Shop shop) throws Exception {
		Lease others = this.registry.acquireAsync(SHELF).join();
		ExecutorService threads = Executors.newFixedThreadPool(CALLERS);
		try {
			var calls = IntStream.range(0, CALLERS)
				.mapToObj((caller) -> CompletableFuture.supplyAsync(() -> mvc.get().uri("/parcels/take").exchange(),
						threads))
				.toList();
			assertThat(shop.readers.await(30, TimeUnit.SECONDS)).as("all have read before the lock is free").isTrue();
			others.close();
			for (CompletableFuture<MvcTestResult> call : calls) {
				// The view loads lazily
				assertThat(call.join()).hasStatusOk().bodyJson().isLenientlyEqualTo("['fragile']");
			}
			assertThat(find(1L).count).isEqualTo(10 - CALLERS);
		}
		finally {
			others.close();
			threads.shutdownNow();
		}
	}

	@Test
	void theSessionGoesOnWithAnotherConnection() {
		inView(() -> {
			Parcels parcels = this.entityManager.find(Parcels.class, 1L);
			assertThat(activeConnections()).isOne();
			assertThat(activeConnectionsUnderTheLock()).isZero();
			assertThat(this.entityManager.contains(parcels)).isTrue();
			assertThat(parcels.labels).containsExactly("fragile");
			assertThat(activeConnections()).isOne();
			parcels.count = 3;
			this.transactions.executeWithoutResult((status) -> this.entityManager.flush());
		});
		assertThat(find(1L).count).isEqualTo(3);
	}

	@Test
	void anOpenStreamGoesOn() {
		inView(() -> {
			try (Stream<Parcels> stream = this.entityManager.createQuery("from parcels", Parcels.class)
				.getResultStream()) {
				Iterator<Parcels> parcels = stream.iterator();
				parcels.next();
				assertThat(activeConnectionsUnderTheLock()).isOne();
				parcels.next();
			}
			assertThat(activeConnectionsUnderTheLock()).isZero();
		});
	}

	@Test
	void sessionsOfAllFactoriesGiveTheirConnectionsBack() {
		EntityManager second = this.factory.createEntityManager();
		inView(() -> withOpen(second, () -> {
			this.entityManager.find(Parcels.class, 1L);
			second.find(Parcels.class, 1L);
			assertThat(activeConnections()).isEqualTo(2);
			assertThat(activeConnectionsUnderTheLock()).isZero();
		}));
		second.close();
	}

	@Test
	void aTransactionThatSpringDoesNotKnowGoesOn() {
		EntityManager session = this.factory.createEntityManager();
		session.getTransaction().begin();
		session.find(Parcels.class, 2L).count = 5;
		session.flush();
		withOpen(session, () -> assertThat(activeConnectionsUnderTheLock()).isOne());
		session.getTransaction().commit();
		session.close();
		assertThat(find(2L).count).isEqualTo(5);
	}

	@Test
	void aSessionKeepsTheConnectionThatItWasGiven() throws SQLException {
		try (Connection own = this.dataSource.getConnection();
				Session session = this.factory.unwrap(SessionFactory.class)
					.withOptions()
					.connection(own)
					.openSession()) {
			withOpen(session, () -> {
				assertThat(activeConnectionsUnderTheLock()).isOne();
				assertThat(session.find(Parcels.class, 1L)).isNotNull();
			});
		}
	}

	@Test
	void whatIsNotOfHibernateDoesNotDisturb() {
		EntityManager ofAnotherVendor = Mockito.mock(EntityManager.class, (invocation) -> {
			throw new PersistenceException("Not supported");
		});
		inView(() -> withOpen(ofAnotherVendor, () -> {
			this.entityManager.find(Parcels.class, 1L);
			assertThat(activeConnectionsUnderTheLock()).isZero();
		}));
	}

	private int activeConnectionsUnderTheLock() {
		return this.lock.execute(SHELF, (lease) -> activeConnections());
	}

	private int activeConnections() {
		try {
			return this.dataSource.unwrap(HikariDataSource.class).getHikariPoolMXBean().getActiveConnections();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private Parcels find(Long id) {
		return this.transactions.execute((status) -> this.entityManager.find(Parcels.class, id));
	}

	private void inView(Runnable work) {
		PersistenceContextTests.inView(this.factory, work);
	}

	/** As open-in-view does with a second factory. */
	private static void withOpen(EntityManager entityManager, Runnable work) {
		TransactionSynchronizationManager.bindResource("second", new EntityManagerHolder(entityManager));
		try {
			work.run();
		}
		finally {
			TransactionSynchronizationManager.unbindResource("second");
		}
	}

	@RestController
	static class Shop {

		private final CountDownLatch readers = new CountDownLatch(CALLERS);

		private final Shelf shelf;

		private final EntityManager entityManager;

		Shop(Shelf shelf, EntityManager entityManager) {
			this.shelf = shelf;
			this.entityManager = entityManager;
		}

		@GetMapping("/parcels/take")
		public Set<String> take() {
			Parcels parcels = this.entityManager.find(Parcels.class, 1L);
			this.readers.countDown();
			this.shelf.take();
			return parcels.labels;
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
			this.entityManager.find(Parcels.class, 1L).count--;
		}

	}

	@Entity(name = "parcels")
	static class Parcels {

		@Id
		Long id;

		int count = 10;

		@ElementCollection
		Set<String> labels = new HashSet<>(Set.of("fragile"));

		Parcels() {
		}

		Parcels(Long id) {
			this.id = id;
		}

	}

}
