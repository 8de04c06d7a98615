// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.StringUtils;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

import io.github.lockstarter.DistributedLock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A controller that reads an entity before it calls the locked method.
 */
@ExtendWith(OutputCaptureExtension.class)
class OpenInViewTests {

	private static final String WARNING = "Lock 'view' is acquired while a persistence context is open";

	/**
	 * The second caller reads while the first one holds the lock.
	 * @return how many pieces are left of ten
	 */
	private static int leftAfterTwoCallers(MockMvcTester mvc, Steps steps, Shelf shelf) {
		shelf.fill();
		CompletableFuture<Void> first = CompletableFuture
			.runAsync(() -> assertThat(mvc.get().uri("/take/first")).hasStatusOk());
		steps.await("first is inside");
		assertThat(mvc.get().uri("/take/second")).hasStatusOk();
		first.join();
		return shelf.count();
	}

	@Nested
	@OpenInViewApplication
	class ByDefault {

		@Test
		void noPieceIsLost(@Autowired MockMvcTester mvc, @Autowired Steps steps, @Autowired Shelf shelf,
				CapturedOutput output) {
			assertThat(leftAfterTwoCallers(mvc, steps, shelf)).isEqualTo(8);
			assertThat(StringUtils.countOccurrencesOf(output.toString(), WARNING)).isOne();
			assertThat(output).contains("so pass their ids", "are detached, so fetch lazy associations",
					"spring.jpa.open-in-view=false", "distributed-lock.persistence-context=isolate if this is intended",
					"logged once for each lock name");
		}

	}

	@Nested
	@OpenInViewApplication
	@TestPropertySource(properties = "distributed-lock.persistence-context=ignore")
	class WithIgnore {

		@Test
		void aPieceIsLostSilently(@Autowired MockMvcTester mvc, @Autowired Steps steps, @Autowired Shelf shelf,
				CapturedOutput output) {
			assertThat(leftAfterTwoCallers(mvc, steps, shelf)).isEqualTo(9);
			assertThat(output).doesNotContain(WARNING);
		}

	}

	@RestController
	static class Shop {

		private final Shelf shelf;

		private final Steps steps;

		private final EntityManager entityManager;

		Shop(Shelf shelf, Steps steps, EntityManager entityManager) {
			this.shelf = shelf;
			this.steps = steps;
			this.entityManager = entityManager;
		}

		@GetMapping("/take/{caller}")
		public void take(@PathVariable String caller) {
			assertThat(this.entityManager.find(Item.class, 1L).count).isEqualTo(10);
			if (caller.equals("second")) {
				this.steps.done("second has read");
			}
			this.shelf.take(caller);
		}

	}

	static class Steps {

		private final Map<String, CountDownLatch> latches = Map.of("first is inside", new CountDownLatch(1),
				"second has read", new CountDownLatch(1));

		void done(String step) {
			this.latches.get(step).countDown();
		}

		void await(String step) {
			try {
				assertThat(this.latches.get(step).await(30, TimeUnit.SECONDS)).as(step).isTrue();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

	static class Shelf {

		private final EntityManager entityManager;

		private final TransactionTemplate transactions;

		private final Steps steps;

		Shelf(EntityManager entityManager, TransactionTemplate transactions, Steps steps) {
			this.steps = steps;
			this.entityManager = entityManager;
			this.transactions = transactions;
		}

		@DistributedLock(name = "view")
		@Transactional
		public void take(String caller) {
			if (caller.equals("first")) {
				this.steps.done("first is inside");
				this.steps.await("second has read");
			}
			this.entityManager.find(Item.class, 1L).count--;
		}

		void fill() {
			this.transactions.executeWithoutResult((status) -> this.entityManager.merge(new Item()));
		}

		int count() {
			return this.transactions.execute((status) -> this.entityManager.find(Item.class, 1L).count);
		}

	}

	@Entity(name = "item")
	static class Item {

		@Id
		Long id = 1L;

		int count = 10;

	}

}
