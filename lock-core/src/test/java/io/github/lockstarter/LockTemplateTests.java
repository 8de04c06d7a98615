// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class LockTemplateTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockKey OTHER_KEY = LockKey.of("stock", 1002);

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	private static final LockRequest AT_ONCE = REQUEST.withWaitTime(Duration.ZERO);

	private static final Duration SHORT_TIME = Duration.ofSeconds(5);

	private static final LockRequest SHORT = REQUEST.withLeaseTime(SHORT_TIME);

	@RegisterExtension
	private final ManualInstances instances = new ManualInstances();

	private final ManualTime time = this.instances.time;

	private final LockMemory memory = this.instances.memory;

	private final FaultInjectingStore store = this.instances.store();

	private final CountDownLatch lossToBeTold = new CountDownLatch(1);

	private final LockListener delayingCallbacks = (event) -> {
		if (event instanceof LockEvent.Lost) {
			await(this.lossToBeTold);
		}
	};

	private final DefaultLockRegistry registry = this.instances.registry(this.store);

	private final LockTemplate template = new LockTemplate(this.registry);

	private final AtomicInteger runs = new AtomicInteger();

	@AfterEach
	void nothingIsLeft() {
		assertThat(Thread.interrupted()).isFalse();
		assertNoCurrentLease();
	}

	@ParameterizedTest
	@EnumSource
	void theResultOfTheBodyIsReturnedAndTheLockReleased(OnLost onLost) {
		String result = this.template.withOnLost(onLost).execute(REQUEST, (lease) -> {
			assertThat(lease.isHeld()).isTrue();
			assertThat(lease.key()).isEqualTo(KEY);
			assertThat(this.memory.isEmpty()).isFalse();
			return "result";
		});
		assertThat(result).isEqualTo("result");
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void theExceptionOfTheBodyIsThrownAsItIsAndTheLockReleased(OnLost onLost) {
		IOException expected = new IOException("expected by the test");
		assertThatExceptionOfType(IOException.class)
			.isThrownBy(() -> this.template.withOnLost(onLost).execute(REQUEST, (lease) -> {
				throw expected;
			}))
			.isSameAs(expected)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void theResultMayBeNull() {
		Object result = this.template.execute(REQUEST, (lease) -> null);
		assertThat(result).isNull();
	}

	@ParameterizedTest
	@EnumSource
	void theCurrentLeaseIsThatOfTheInnermostBody(OnLost onLost) {
		LockTemplate template = this.template.withOnLost(onLost);
		assertNoCurrentLease();
		template.execute(REQUEST, (outer) -> {
			assertThat(Lease.current()).isSameAs(outer);
			template.execute(LockRequest.of(OTHER_KEY), (inner) -> {
				assertThat(Lease.current()).isSameAs(inner);
				assertThat(Lease.current().key()).isEqualTo(OTHER_KEY);
				return null;
			});
			assertThat(Lease.current()).isSameAs(outer);
			template.execute(AT_ONCE, (nested) -> {
				assertThat(Lease.current()).isSameAs(nested);
				assertThat(nested.fencingToken()).isEqualTo(outer.fencingToken());
				return null;
			});
			assertThat(Lease.current()).isSameAs(outer);
			return null;
		});
		assertNoCurrentLease();
	}

	@Test
	void theCurrentLeaseIsRestoredAfterAnException() {
		this.template.execute(REQUEST, (outer) -> {
			assertThatIllegalStateException()
				.isThrownBy(() -> this.template.execute(LockRequest.of(OTHER_KEY), (inner) -> {
					throw new IllegalStateException("expected by the test");
				}));
			assertThat(Lease.current()).isSameAs(outer);
			return null;
		});
	}

	@Test
	void theCurrentLeaseIsRestoredAfterALoss() {
		this.template.execute(LockRequest.of(OTHER_KEY), (outer) -> {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> this.template.execute(SHORT, this::returnAfterLoss));
			assertThat(Lease.current()).isSameAs(outer);
			return null;
		});
	}

	@Test
	void otherThreadsDoNotSeeTheCurrentLease() {
		this.template.execute(REQUEST, (lease) -> {
			assertThatIllegalStateException().isThrownBy(() -> Callers.start(Lease::current).get())
				.withMessageContaining("no current lease");
			return null;
		});
	}

	@Test
	void byDefaultALossIsThrownAfterTheBody() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.template.execute(REQUEST, (lease) -> {
			this.memory.clear();
			return this.runs.incrementAndGet();
		})).satisfies((ex) -> assertThat(ex.getKey()).isEqualTo(KEY));
		assertThat(this.runs).hasValue(1);
		assertThat(this.registry.tryAcquire(AT_ONCE)).hasValueSatisfying(Lease::close);
	}

	@Test
	void aFixedLeaseThatRunsOutIsThrownAfterTheBody() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.execute(SHORT, this::returnAfterLoss))
			.withMessageContaining("lease time of 5000 ms expired");
	}

	@Test
	void theExceptionOfTheBodyIsNotHiddenByTheLoss() {
		IOException expected = new IOException("expected by the test");
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.template.execute(REQUEST, (lease) -> {
			this.memory.clear();
			throw expected;
		}))
			.isSameAs(expected)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).singleElement().isInstanceOf(LockLostException.class));
	}

	@Test
	void aNestedBodyDoesNotRunAfterTheLoss() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.template.execute(SHORT, (lease) -> {
			lose(lease);
			return this.template.execute(REQUEST, (nested) -> this.runs.incrementAndGet());
		})).withMessageContaining("lease time of 5000 ms expired");
		assertThat(this.runs).hasValue(0);
		assertThat(this.registry.tryAcquire(REQUEST)).hasValueSatisfying(Lease::close);
	}

	@Test
	void aBlockedBodyIsInterruptedByTheLoss() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> interrupting().execute(SHORT, this::blockUntilLoss))
			.withMessageContaining("lease time of 5000 ms expired")
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasAtLeastOneElementOfType(InterruptedException.class));
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void aBlockedBodyIsInterruptedWhenARenewalFindsTheLockGone() {
		Duration renewalInterval = EngineSettings.DEFAULTS.leaseTime()
			.dividedBy(EngineSettings.DEFAULTS.renewalsPerLease());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> interrupting().execute(REQUEST, (lease) -> {
			this.memory.clear();
			return blockWhile(renewalInterval);
		}));
	}

	@Test
	void aBodyThatReturnsNormallyAfterTheInterruptIsNotSuccessful() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> interrupting().execute(SHORT, (lease) -> {
			assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> blockUntilLoss(lease));
			return this.runs.incrementAndGet();
		}));
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void anInterruptThatTheBodyDidNotNoticeIsTakenBack() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> interrupting().execute(SHORT, (lease) -> {
			lose(lease);
			assertThat(Thread.currentThread().isInterrupted()).isTrue();
			return this.runs.incrementAndGet();
		}));
		assertThat(this.runs).hasValue(1);
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void aBodyIsInterruptedOnce() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> interrupting().execute(SHORT, (lease) -> {
			CountDownLatch notified = new CountDownLatch(1);
			lease.onLost((loss) -> notified.countDown());
			assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> blockUntilLoss(lease));
			await(notified);
			this.memory.clear();
			assertThat(lease.isHeld()).isFalse();
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			return this.runs.incrementAndGet();
		}));
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void aThreadIsNotInterruptedAfterItHasLeftTheBody() {
		DefaultLockRegistry delaying = this.instances.registry(this.store, this.delayingCallbacks);
		LockTemplate template = new LockTemplate(delaying).withOnLost(OnLost.INTERRUPT);
		CountDownLatch notified = new CountDownLatch(1);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> template.execute(SHORT, (lease) -> {
			lease.onLost((loss) -> notified.countDown());
			lose(lease);
			return this.runs.incrementAndGet();
		}));
		assertThat(notified.getCount()).isOne();
		this.lossToBeTold.countDown();
		await(notified);
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void anInterruptByAnybodyElseIsLeftToTheBodyAndItsCaller() throws Exception {
		Call<Boolean> caller = Callers.start(() -> interrupting().execute(REQUEST, (lease) -> {
			Thread.currentThread().interrupt();
			return true;
		}) && Thread.interrupted());
		assertThat(caller.get()).isTrue();
		assertThatExceptionOfType(InterruptedException.class)
			.isThrownBy(() -> interrupting().execute(REQUEST, (lease) -> {
				Thread.currentThread().interrupt();
				return block();
			}));
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void anInterruptThatCameBeforeTheLossIsLeftToTheCaller() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> interrupting().execute(SHORT, (lease) -> {
			CountDownLatch notified = new CountDownLatch(1);
			lease.onLost((loss) -> notified.countDown());
			Thread.currentThread().interrupt();
			lose(lease);
			assertThat(notified.getCount()).isZero();
			return null;
		}));
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void anInterruptThatFollowsTheOneThatTheBodyNoticedIsLeftToTheCaller() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> interrupting().execute(SHORT, (lease) -> {
			try {
				return blockUntilLoss(lease);
			}
			finally {
				Thread.currentThread().interrupt();
			}
		}));
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void anInterruptThatTheBodyNotesAndWrapsIsTakenBack() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> interrupting().execute(SHORT, (lease) -> {
			try {
				return blockUntilLoss(lease);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IllegalStateException(ex);
			}
		}));
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void whenALossIsOnlyLoggedTheResultIsReturned() {
		LockTemplate tolerant = this.template.withOnLost(OnLost.LOG);
		assertThat(tolerant.<Lease, Integer, RuntimeException>execute(SHORT, this::returnAfterLoss)).isEqualTo(1);
		assertThat(tolerant.<Lease, Integer, RuntimeException>execute(REQUEST, (lease) -> {
			this.memory.clear();
			return 2;
		})).isEqualTo(2);
	}

	@Test
	void whenALossIsOnlyLoggedTheBodyCanStillSeeIt() {
		this.template.withOnLost(OnLost.LOG).execute(SHORT, (lease) -> {
			lose(lease);
			assertThat(lease.isHeld()).isFalse();
			assertThat(lease.remaining()).isZero();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureHeld)
				.satisfies((ex) -> assertThat(ex.getFencingToken()).isEqualTo(lease.fencingToken()));
			return null;
		});
	}

	@Test
	void whenALossIsOnlyLoggedItIsNotAddedToTheExceptionOfTheBody() {
		assertThatExceptionOfType(IOException.class)
			.isThrownBy(() -> this.template.withOnLost(OnLost.LOG).execute(REQUEST, (lease) -> {
				this.memory.clear();
				throw new IOException("expected by the test");
			}))
			.satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
	}

	@Test
	void aTemplateWithAnotherReactionLeavesTheFirstAsItWas() {
		this.template.withOnLost(OnLost.LOG);
		byDefaultALossIsThrownAfterTheBody();
	}

	@Test
	void theBodyDoesNotRunWhenSomebodyElseHoldsTheLock() {
		holdElsewhere(KEY);
		assertThatExceptionOfType(LockContendedException.class)
			.isThrownBy(() -> this.template.execute(AT_ONCE, this::countedBody));
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void theBodyDoesNotRunWhenTheStoreCannotBeAsked() {
		this.store.acquire.loseRequests(() -> true);
		for (OnLost onLost : OnLost.values()) {
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> this.template.withOnLost(onLost).execute(AT_ONCE, this::countedBody));
		}
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void theBodyDoesNotRunWhenTheAnswerOfTheStoreIsLost() {
		this.store.acquire.loseAnswers(() -> true);
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.template.execute(AT_ONCE, this::countedBody));
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void theBodyDoesNotRunOnAnInterruptedThread() {
		Call<Integer> caller = Callers.start(() -> {
			Thread.currentThread().interrupt();
			return this.template.execute(REQUEST, this::countedBody);
		});
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(caller::get);
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void theBodyDoesNotRunAfterShutdown() {
		this.registry.drain();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(
				() -> this.template.executeOrElse(REQUEST, this::countedBody, LockTemplateTests::unexpectedHandler));
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void withoutContentionTheHandlerIsNotCalled() {
		assertThat(this.template.<Lease, Integer, RuntimeException>executeOrElse(REQUEST, this::countedBody,
				LockTemplateTests::unexpectedHandler))
			.isEqualTo(1);
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void onContentionTheHandlerRunsInsteadOfTheBodyAndWithoutTheLock() {
		holdElsewhere(KEY);
		Duration waitTime = Duration.ofSeconds(3);
		String result = this.time.letPass(() -> this.template
			.<Lease, String, RuntimeException>executeOrElse(REQUEST.withWaitTime(waitTime), (lease) -> {
				this.runs.incrementAndGet();
				return "body";
			}, (contention) -> {
				assertNoCurrentLease();
				assertThat(contention.getKey()).isEqualTo(KEY);
				assertThat(contention.getWaited()).isEqualTo(waitTime);
				return "handler";
			}));
		assertThat(result).isEqualTo("handler");
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void theExceptionOfTheHandlerIsThrownAsItIs() {
		holdElsewhere(KEY);
		IOException expected = new IOException("expected by the test");
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.template
			.<Lease, Integer, IOException>executeOrElse(AT_ONCE, this::countedBody, (contention) -> {
				throw expected;
			})).isSameAs(expected);
		assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> this.template
			.<Lease, Integer, RuntimeException>executeOrElse(AT_ONCE, this::countedBody, (contention) -> {
				throw contention;
			}));
	}

	@Test
	void contentionOfAnotherLockWithinTheBodyIsNotHandled() {
		holdElsewhere(OTHER_KEY);
		assertThatExceptionOfType(LockContendedException.class)
			.isThrownBy(() -> this.template.<Lease, Integer, RuntimeException>executeOrElse(REQUEST,
					(lease) -> this.template.execute(LockRequest.of(OTHER_KEY).withWaitTime(Duration.ZERO),
							this::countedBody),
					LockTemplateTests::unexpectedHandler))
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo(OTHER_KEY));
		assertThat(this.runs).hasValue(0);
		assertThat(this.registry.tryAcquire(AT_ONCE)).hasValueSatisfying(Lease::close);
	}

	@Test
	void contentionThatTheBodyThrowsIsNotHandled() {
		LockContendedException expected = new LockContendedException(KEY, Duration.ZERO);
		assertThatExceptionOfType(LockContendedException.class)
			.isThrownBy(() -> this.template.<Lease, Integer, RuntimeException>executeOrElse(REQUEST, (lease) -> {
				throw expected;
			}, LockTemplateTests::unexpectedHandler))
			.isSameAs(expected);
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void anOutageIsNotHandledAsContention() {
		this.store.acquire.loseRequests(() -> true);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(
				() -> this.template.executeOrElse(AT_ONCE, this::countedBody, LockTemplateTests::unexpectedHandler));
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void aLossIsNotHandledAsContention() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.<Lease, Integer, RuntimeException>executeOrElse(SHORT,
					this::returnAfterLoss, LockTemplateTests::unexpectedHandler));
	}

	@Test
	void bodiesOfOneLockRunOneAtATime() throws Exception {
		int[] unguarded = new int[1];
		List<Call<Integer>> callers = new CopyOnWriteArrayList<>();
		for (int i = 0; i < 8; i++) {
			callers.add(Callers.start(() -> {
				for (int j = 0; j < 200; j++) {
					this.template.execute(REQUEST, (lease) -> unguarded[0]++);
				}
				return 200;
			}));
		}
		for (Call<Integer> caller : callers) {
			caller.get();
		}
		assertThat(unguarded[0]).isEqualTo(8 * 200);
	}

	private LockTemplate interrupting() {
		return this.template.withOnLost(OnLost.INTERRUPT);
	}

	private void holdElsewhere(LockKey key) {
		this.instances.holdElsewhere(key, Duration.ofSeconds(30));
	}

	private int countedBody(Lease lease) {
		return this.runs.incrementAndGet();
	}

	private static int unexpectedHandler(LockContendedException contention) {
		throw new AssertionError("must not be called", contention);
	}

	private int returnAfterLoss(Lease lease) {
		lose(lease);
		return 1;
	}

	/** Let the lease expire, and the owner learn of it. */
	private void lose(Lease lease) {
		assertThat(lease.isHeld()).isTrue();
		this.time.advance(SHORT_TIME);
		assertThat(lease.isHeld()).isFalse();
	}

	private int blockUntilLoss(Lease lease) throws InterruptedException {
		return blockWhile(SHORT_TIME);
	}

	/** Block while another thread moves the time. */
	private int blockWhile(Duration duration) throws InterruptedException {
		Callers.start(() -> {
			this.time.advance(duration);
			return true;
		});
		return block();
	}

	private static int block() throws InterruptedException {
		assertThat(new CountDownLatch(1).await(30, TimeUnit.SECONDS)).as("interrupted").isTrue();
		return 0;
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new AssertionError("must not be interrupted", ex);
		}
	}

	private static void assertNoCurrentLease() {
		assertThatIllegalStateException().isThrownBy(Lease::current).withMessageContaining("no current lease");
	}

}
