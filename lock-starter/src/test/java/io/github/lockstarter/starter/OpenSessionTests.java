// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import java.util.concurrent.CompletableFuture;

import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.StringUtils;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.interceptor.DistributedLockAdvisor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A JPA session that was opened before a lock returns what it read before the lock, which
 * causes a warning.
 */
@SpringBootTest(classes = OpenSessionTests.Application.class,
		properties = { "distributed-lock.store=memory", "spring.jpa.hibernate.ddl-auto=create-drop" })
@AutoConfigureMockMvc
@ExtendWith(OutputCaptureExtension.class)
class OpenSessionTests {

	private static final String WARNING = "was acquired inside an open JPA session";

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private Shelf shelf;

	@Autowired
	private Shop shop;

	@Autowired
	private EntityManager entityManager;

	@Autowired
	private TransactionTemplate transactions;

	@Autowired
	private DistributedLockAdvisor advisor;

	@BeforeEach
	void fill() {
		this.transactions.executeWithoutResult((status) -> this.entityManager.merge(new Item()));
		// The lock forgets the methods of which it has warned
		this.advisor.setOnActiveTransaction(OnActiveTransaction.DEFER);
	}

	@Test
	void anEntityThatTheWebRequestReadBeforeTheLockIsStale(CapturedOutput output) {
		assertThat(this.mvc.get().uri("/stale")).hasStatusOk();
		assertThat(count()).isEqualTo(9);
		assertThat(this.mvc.get().uri("/stale")).hasStatusOk();
		assertThat(StringUtils.countOccurrencesOf(output.toString(), WARNING)).isOne();
		assertThat(output).contains("The lock of '" + Shelf.class.getName() + ".take()' " + WARNING,
				"spring.jpa.open-in-view=false", "entityManager.refresh(entity)");
	}

	@Test
	void anEntityThatTheTransactionReadBeforeTheLockIsStale(CapturedOutput output) {
		this.shop.readAndTake();
		assertThat(count()).isEqualTo(9);
		assertThat(output).contains(WARNING);
	}

	@Test
	void aRefreshedEntityIsFresh() {
		this.shop.readAndTakeRefreshed();
		assertThat(count()).isEqualTo(8);
	}

	@Test
	void aSessionThatIsOpenedUnderTheLockIsFresh(CapturedOutput output) {
		this.shelf.count();
		CompletableFuture.runAsync(this.shelf::take).join();
		this.shelf.take();
		assertThat(count()).isEqualTo(8);
		assertThat(output).doesNotContain(WARNING);
	}

	@Test
	void aReentrantLockIsAsOldAsItsFirstHold(CapturedOutput output) {
		this.shop.takeUnderTheSameLock();
		assertThat(count()).isEqualTo(9);
		assertThat(output).doesNotContain(WARNING);
	}

	@Test
	void aSecondLockIsYoungerThanTheSession(CapturedOutput output) {
		this.shop.takeUnderAnotherLock();
		assertThat(output).contains(WARNING);
	}

	private int count() {
		return this.shelf.count();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Shelf.class, Shop.class })
	static class Application {

	}

	@RestController
	static class Shop {

		private final Shelf shelf;

		private final EntityManager entityManager;

		Shop(Shelf shelf, EntityManager entityManager) {
			this.shelf = shelf;
			this.entityManager = entityManager;
		}

		@GetMapping("/stale")
		public void readAndTakeInOneRequest() {
			readAndLetAnotherTake();
			this.shelf.take();
		}

		@Transactional
		public void readAndTake() {
			readAndLetAnotherTake();
			this.shelf.take();
		}

		@Transactional
		public void readAndTakeRefreshed() {
			readAndLetAnotherTake();
			this.shelf.takeRefreshed();
		}

		@DistributedLock(name = "shelf")
		@Transactional
		public void takeUnderTheSameLock() {
			this.shelf.count();
			this.shelf.take();
		}

		@DistributedLock(name = "shop")
		@Transactional
		public void takeUnderAnotherLock() {
			this.shelf.count();
			this.shelf.take();
		}

		private void readAndLetAnotherTake() {
			this.entityManager.find(Item.class, 1L);
			CompletableFuture.runAsync(this.shelf::take).join();
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
			this.entityManager.find(Item.class, 1L).count--;
		}

		@DistributedLock(name = "shelf")
		@Transactional
		public void takeRefreshed() {
			Item item = this.entityManager.find(Item.class, 1L);
			this.entityManager.refresh(item);
			item.count--;
		}

		@Transactional(readOnly = true)
		public int count() {
			return this.entityManager.find(Item.class, 1L).count;
		}

	}

	@Entity(name = "item")
	static class Item {

		@Id
		private Long id = 1L;

		private int count = 10;

	}

}
