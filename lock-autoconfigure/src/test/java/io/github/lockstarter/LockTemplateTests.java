// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.memory.MemoryLockBackend;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.testsupport.FaultInjectingBackend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.fail;

class LockTemplateTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001).withWaitTime(Duration.ZERO);

	private static final LockRequest OTHER = LockRequest.of("order", 7);

	private final MemoryLockStore store = new MemoryLockStore();

	private final FaultInjectingBackend backend = new FaultInjectingBackend(new MemoryLockBackend(this.store));

	private final DefaultLockRegistry registry = new DefaultLockRegistry(this.backend,
			new EngineSettings(Duration.ofSeconds(5), Duration.ofMillis(300), 3, Duration.ofSeconds(1),
					Duration.ofMillis(100), Duration.ofSeconds(1)),
			(event) -> {
			});

	private final DefaultLockRegistry others = new DefaultLockRegistry(new MemoryLockBackend(this.store),
			EngineSettings.DEFAULTS, (event) -> {
			});

	private final LockTemplate template = new LockTemplate(this.registry);

	@AfterEach
	void close() {
		assertThat(Thread.interrupted()).as("an interrupt is left behind").isFalse();
		this.registry.close();
		this.others.close();
	}

	@Test
	void theResultPassesThroughAndTheLockIsGivenBack() {
		String result = this.template.execute(REQUEST, (lease) -> {
			assertThat(this.others.tryAcquire(REQUEST)).isEmpty();
			return "sold";
		});
		assertThat(result).isEqualTo("sold");
		assertThat(this.store.isEmpty()).isTrue();
	}

	@Test
	void theExceptionPassesThroughAndTheLockIsGivenBack() {
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.template.execute(REQUEST, (lease) -> {
			throw new IOException("out of paper");
		})).withMessage("out of paper").withNoCause();
		assertThat(this.store.isEmpty()).isTrue();
	}

	@Test
	void theCurrentLeaseIsThatOfTheInnermostBody() {
		this.template.execute(REQUEST, (outer) -> {
			assertThat(Lease.current()).isSameAs(outer);
			this.template.execute(OTHER, (inner) -> {
				assertThat(Lease.current()).isSameAs(inner).isNotSameAs(outer);
				return null;
			});
			return assertThat(Lease.current()).isSameAs(outer);
		});
		assertThatIllegalStateException().isThrownBy(Lease::current).withMessageContaining("no current lease");
	}

	@Test
	void aLostLockIsAnErrorAfterTheBody() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.template.execute(REQUEST, (lease) -> {
			this.store.clear();
			return "sold";
		})).withMessageContaining("'stock:1001'");
	}

	@Test
	void theErrorOfTheBodyComesBeforeTheLoss() {
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(REQUEST, (lease) -> {
			this.store.clear();
			throw new IllegalStateException("out of order");
		})).satisfies((ex) -> assertThat(ex.getSuppressed()).hasOnlyElementsOfType(LockLostException.class));
	}

	@Test
	void withLogALossChangesNothing() {
		String result = this.template.withOnLost(OnLost.LOG).execute(REQUEST, (lease) -> {
			this.store.clear();
			return "sold";
		});
		assertThat(result).isEqualTo("sold");
	}

	@Test
	void withInterruptABodyThatBlocksIsInterruptedByTheLoss() {
		LockTemplate interrupting = this.template.withOnLost(OnLost.INTERRUPT);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> interrupting.execute(REQUEST, (lease) -> {
			this.store.clear();
			new CountDownLatch(1).await();
			return fail("the body was not interrupted");
		})).satisfies((ex) -> assertThat(ex.getSuppressed()).hasAtLeastOneElementOfType(InterruptedException.class));
	}

	@Test
	void withInterruptABodyThatDoesNotBlockLeavesNoInterruptBehind() {
		LockTemplate interrupting = this.template.withOnLost(OnLost.INTERRUPT);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> interrupting.execute(REQUEST, (lease) -> {
			this.store.clear();
			while (!Thread.currentThread().isInterrupted()) {
				Thread.onSpinWait();
			}
			return "sold";
		}));
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void withInterruptNobodyIsInterruptedAfterTheBody() throws Exception {
		CountDownLatch lost = new CountDownLatch(1);
		LockTemplate interrupting = this.template.withOnLost(OnLost.INTERRUPT);
		try (Lease outer = this.registry.acquire(REQUEST)) {
			outer.onLost((loss) -> lost.countDown());
			assertThat(interrupting.<String, RuntimeException>execute(REQUEST, (lease) -> "sold")).isEqualTo("sold");
			this.store.clear();
			assertThat(lost.await(20, TimeUnit.SECONDS)).isTrue();
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
		}
		catch (LockLostException ex) {
			assertThat(ex.getKey()).isEqualTo(REQUEST.key());
		}
	}

	@Test
	void somethingElseRunsOnlyWhenSomebodyElseHoldsTheLock() {
		try (Lease held = this.others.acquire(REQUEST)) {
			String result = this.template.executeOrElse(REQUEST, (lease) -> "sold",
					(contention) -> "busy: " + contention.getKey());
			assertThat(result).isEqualTo("busy: stock:1001");
		}
		assertThat(this.template.<String, RuntimeException>executeOrElse(REQUEST, (lease) -> "sold",
				(contention) -> "busy"))
			.isEqualTo("sold");
	}

	@Test
	void contentionInsideTheBodyIsTheBodysError() {
		LockContendedException inner = new LockContendedException(OTHER.key(), Duration.ZERO);
		assertThatExceptionOfType(LockContendedException.class)
			.isThrownBy(() -> this.template.executeOrElse(REQUEST, (lease) -> {
				throw inner;
			}, (contention) -> "busy"))
			.isSameAs(inner);
	}

	@Test
	void anOutageIsNoContention() {
		this.backend.acquire.loseRequests(() -> true);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.template.executeOrElse(REQUEST,
				(lease) -> fail("the body ran"), (contention) -> fail("an outage is no contention")));
	}

}
