// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import jakarta.annotation.PostConstruct;
import jakarta.persistence.EntityManager;
import org.aspectj.lang.annotation.Aspect;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.aspectj.DistributedLockWeaving;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.interceptor.DistributedLockAdvisor;
import io.github.lockstarter.interceptor.InvalidLockDefinitionException;
import io.github.lockstarter.testsupport.WeavingClassLoader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.Mockito.mock;

class LockWeavingConfigurationTests {

	private static final WeavingClassLoader loader = WeavingClassLoader.of(WovenStock.class);

	private final List<LockKey> acquired = new CopyOnWriteArrayList<>();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class, AopAutoConfiguration.class))
		.withPropertyValues("distributed-lock.store=memory")
		.withBean(LockListener.class, () -> (event) -> {
			if (event instanceof LockEvent.Acquired) {
				this.acquired.add(event.key());
			}
		});

	private final ApplicationContextRunner woven = this.runner.withClassLoader(loader)
		.withBean(Stock.class, () -> loader.create(Stock.class, WovenStock.class));

	@ParameterizedTest
	@ValueSource(strings = { "aspectj", "ASPECT-J" })
	void wovenMethodsAreLockedOnceAndWithoutProxies(String mode) {
		this.woven.withPropertyValues("distributed-lock.advice-mode=" + mode).run((context) -> {
			assertThat(context).hasNotFailed().doesNotHaveBean(DistributedLockAdvisor.class);
			Stock stock = context.getBean(Stock.class);
			assertThat(stock.getClass().getName()).endsWith("$WovenStock");
			this.acquired.clear();
			stock.deductAll(1001);
			assertThat(this.acquired).containsExactly(LockKey.of("stock", 1001));
		});
	}

	@Test
	void beansAreLockedFromTheirInitializationOn() {
		this.woven.withPropertyValues("distributed-lock.advice-mode=aspectj")
			.run((context) -> assertThat(this.acquired).containsExactly(LockKey.of("stock", 0)));
	}

	@Test
	void byDefaultProxiesLockOnceThoughTheClassIsWoven() {
		this.woven.run((context) -> {
			assertThat(context).hasNotFailed().hasSingleBean(DistributedLockAdvisor.class);
			context.getBean(Stock.class).deduct(1001);
			assertThat(this.acquired).containsExactly(LockKey.of("stock", 1001));
			context.getBean(Stock.class).deductAll(1002);
			assertThat(this.acquired).hasSize(1);
		});
	}

	@Test
	void aClassThatIsNotWovenEndsTheStart() {
		this.runner.withPropertyValues("distributed-lock.advice-mode=aspectj")
			.withBean(WovenStock.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(InvalidLockDefinitionException.class)
				.hasMessageContaining("is not woven"));
	}

	@Test
	void withoutAspectJThereAreProxiesOnly() {
		ApplicationContextRunner without = this.runner.withClassLoader(new FilteredClassLoader(Aspect.class))
			.withBean(WovenStock.class);
		without.run((context) -> {
			assertThat(context).hasNotFailed().doesNotHaveBean(DistributedLockWeaving.class);
			context.getBean(WovenStock.class).deduct(1001);
			assertThat(this.acquired).containsExactly(LockKey.of("stock", 1001));
		});
		without.withPropertyValues("distributed-lock.advice-mode=aspectj")
			.run((context) -> assertThat(context).getFailure().hasStackTraceContaining("is not woven"));
	}

	@Test
	void wovenMethodsHaveNoLockBeforeAndAfterTheContext() {
		Stock stock = loader.create(Stock.class, WovenStock.class);
		assertThatIllegalStateException().isThrownBy(() -> stock.deduct(1001))
			.withMessageContaining("nothing was executed");
		this.woven.withPropertyValues("distributed-lock.advice-mode=aspectj").run((context) -> stock.deduct(1001));
		assertThatIllegalStateException().isThrownBy(() -> stock.deduct(1001))
			.withMessageContaining("nothing was executed");
	}

	@Test
	void aFailedStartLeavesNothingBehind() {
		this.woven.withPropertyValues("distributed-lock.advice-mode=aspectj")
			.withBean("unwoven", WovenStock.class)
			.run((context) -> assertThat(context).hasFailed());
		this.woven.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void thePropertyForActiveTransactionsReachesWovenMethods() {
		this.woven
			.withPropertyValues("distributed-lock.advice-mode=aspectj", "distributed-lock.on-active-transaction=fail")
			.run((context) -> {
				TransactionSynchronizationManager.setActualTransactionActive(true);
				TransactionSynchronizationManager.initSynchronization();
				try {
					assertThatIllegalStateException().isThrownBy(() -> context.getBean(Stock.class).deduct(1001))
						.withMessageContaining("must not be acquired inside a transaction");
				}
				finally {
					TransactionSynchronizationManager.clear();
				}
			});
	}

	@Test
	void thePropertyForPersistenceContextsReachesWovenMethods() {
		this.woven
			.withPropertyValues("distributed-lock.advice-mode=aspectj", "distributed-lock.persistence-context=fail")
			.run((context) -> {
				TransactionSynchronizationManager.bindResource("factory",
						new EntityManagerHolder(mock(EntityManager.class)));
				try {
					assertThatIllegalStateException().isThrownBy(() -> context.getBean(Stock.class).deduct(1001))
						.withMessageContaining("must not be acquired while a persistence context is open");
				}
				finally {
					TransactionSynchronizationManager.unbindResource("factory");
				}
			});
	}

	public interface Stock {

		void deduct(long id);

		void deductAll(long id);

	}

	public static class WovenStock implements Stock {

		@PostConstruct
		public void initialize() {
			deductAll(0);
		}

		@Override
		@DistributedLock(name = "stock", key = "#id")
		public void deduct(long id) {
		}

		@Override
		public void deductAll(long id) {
			deduct(id);
		}

	}

}
