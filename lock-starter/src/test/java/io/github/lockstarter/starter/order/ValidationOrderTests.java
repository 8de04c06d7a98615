// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.order;

import java.util.function.Consumer;

import jakarta.validation.ConstraintViolationException;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
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
class ValidationOrderTests {

	@Test
	void invalidArgumentsWaitForTheLock() {
		run(ValidatedInside.class, (context) -> {
			try (Lease held = another(context)) {
				assertThat(held.isHeld()).isTrue();
				assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> orders(context).place(-1));
			}
			assertThatExceptionOfType(ConstraintViolationException.class).isThrownBy(() -> orders(context).place(-1));
		});
	}

	@Test
	void aKeyIsThatOfArgumentsThatAreNotValidated() {
		run(ValidatedInside.class,
				(context) -> assertThatIllegalArgumentException().isThrownBy(() -> orders(context).placeById(null))
					.withMessageContaining("#id"));
	}

	@Test
	void aTransactionWhoseResultIsInvalidIsRolledBack() {
		run(ValidatedInside.class, (context) -> {
			assertThatExceptionOfType(ConstraintViolationException.class).isThrownBy(orders(context)::placeNothing);
			assertThat(context.getBean(LockWatch.class).steps()).containsExactly("acquired", "body", "rolled back",
					"released");
		});
	}

	@Test
	void invalidArgumentsNeverAskForALockInsideTheValidation() {
		run(ValidatedOutside.class, (context) -> {
			try (Lease held = another(context)) {
				assertThat(held.isHeld()).isTrue();
				assertThatExceptionOfType(ConstraintViolationException.class)
					.isThrownBy(() -> orders(context).place(-1));
				assertThatExceptionOfType(ConstraintViolationException.class)
					.isThrownBy(() -> orders(context).placeById(null));
				assertThat(context.getBean(LockWatch.class).steps()).isEmpty();
				assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> orders(context).place(1));
			}
		});
	}

	@Test
	void aTransactionInsideTheValidationIsCommittedAlthoughItsResultIsInvalid() {
		run(ValidatedOutside.class, (context) -> {
			assertThatExceptionOfType(ConstraintViolationException.class).isThrownBy(orders(context)::placeNothing);
			assertThat(context.getBean(LockWatch.class).steps()).containsExactly("acquired", "body", "committed",
					"released");
		});
	}

	private static Orders orders(ConfigurableApplicationContext context) {
		return context.getBean(Orders.class);
	}

	private static Lease another(ConfigurableApplicationContext context) {
		return context.getBean(LockWatch.class).heldByAnother(context.getBean(LockRegistry.class));
	}

	private static void run(Class<?> configuration, Consumer<ConfigurableApplicationContext> test) {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(configuration)
			.web(WebApplicationType.NONE)
			.properties("distributed-lock.store=memory", "spring.datasource.generate-unique-name=true")
			.run()) {
			test.accept(context);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
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
