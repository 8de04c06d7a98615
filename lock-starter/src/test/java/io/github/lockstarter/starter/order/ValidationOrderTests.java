// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.order;

import jakarta.validation.ConstraintViolationException;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestPropertySource;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.validation.annotation.Validated;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRegistry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The order of a lock and the validation of arguments and results: Spring Boot validates
 * last, and so inside the lock and the transaction.
 */
@SpringBootTest(classes = ValidationOrderTests.ValidatedInside.class,
		webEnvironment = SpringBootTest.WebEnvironment.NONE)
@TestPropertySource(properties = { "distributed-lock.store=memory", "spring.datasource.generate-unique-name=true" })
class ValidationOrderTests {

	@Autowired
	private Orders orders;

	@Autowired
	private LockWatch watch;

	@Autowired
	private LockRegistry registry;

	@BeforeEach
	void forget() {
		this.watch.forget();
	}

	@Test
	void invalidArgumentsWaitForTheLock() {
		try (Lease held = another()) {
			assertThat(held.isHeld()).isTrue();
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> this.orders.place(-1));
		}
		assertThatExceptionOfType(ConstraintViolationException.class).isThrownBy(() -> this.orders.place(-1));
	}

	@Test
	void aKeyIsThatOfArgumentsThatAreNotValidated() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.orders.placeById(null)).withMessageContaining("#id");
	}

	@Test
	void aTransactionWhoseResultIsInvalidIsRolledBack() {
		assertThatExceptionOfType(ConstraintViolationException.class).isThrownBy(this.orders::placeNothing);
		assertThat(this.watch.steps()).containsExactly("acquired", "body", "rolled back", "released");
	}

	@Nested
	@SpringBootTest(classes = ValidatedOutside.class, webEnvironment = SpringBootTest.WebEnvironment.NONE)
	class Outside {

		@Test
		void invalidArgumentsNeverAskForALockInsideTheValidation() {
			try (Lease held = another()) {
				assertThat(held.isHeld()).isTrue();
				assertThatExceptionOfType(ConstraintViolationException.class)
					.isThrownBy(() -> ValidationOrderTests.this.orders.place(-1));
				assertThatExceptionOfType(ConstraintViolationException.class)
					.isThrownBy(() -> ValidationOrderTests.this.orders.placeById(null));
				assertThat(ValidationOrderTests.this.watch.steps()).isEmpty();
				assertThatExceptionOfType(LockContendedException.class)
					.isThrownBy(() -> ValidationOrderTests.this.orders.place(1));
			}
		}

		@Test
		void aTransactionInsideTheValidationIsCommittedAlthoughItsResultIsInvalid() {
			assertThatExceptionOfType(ConstraintViolationException.class)
				.isThrownBy(ValidationOrderTests.this.orders::placeNothing);
			assertThat(ValidationOrderTests.this.watch.steps()).containsExactly("acquired", "body", "committed",
					"released");
		}

	}

	private Lease another() {
		return this.watch.heldByAnother(this.registry);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			exclude = { HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class })
	@Import(Orders.class)
	static class ValidatedInside {

		@Bean
		LockWatch watch() {
			return new LockWatch(LockKey.of("order"));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(ValidatedInside.class)
	static class ValidatedOutside {

		@Bean
		static BeanFactoryPostProcessor validateFirst() {
			return (beanFactory) -> beanFactory.getBeanDefinition("methodValidationPostProcessor")
				.getPropertyValues()
				.add("beforeExistingAdvisors", true);
		}

	}

	@Validated
	static class Orders {

		private final LockWatch watch;

		Orders(LockWatch watch) {
			this.watch = watch;
		}

		@DistributedLock(name = "order", waitTime = "0s")
		public void place(@Positive long count) {
			this.watch.add("body");
		}

		@DistributedLock(name = "order", key = "#id")
		public void placeById(@NotNull Long id) {
			this.watch.add("body");
		}

		@DistributedLock(name = "order")
		@Transactional
		public @NotNull String placeNothing() {
			this.watch.addInTransaction("body");
			return null;
		}

	}

}
