// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

import kotlin.LazyKt;
import kotlin.sequences.SequencesKt;
import kotlinx.coroutines.JobKt;
import kotlinx.coroutines.flow.FlowKt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.testsupport.Cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/**
 * Bodies that are calls.
 */
class LockTemplateTests extends AbstractBodyTests {

	private static final LockRequest OTHER = LockRequest.of("stock", 1002);

	@Override
	String run(LockTemplate template, LockRequest request, LockedBody<LeaseSet, String, Throwable> body,
			LockFailureHandler<String, Throwable> otherwise) throws Throwable {
		return template.<String, Throwable>executeChecked(request, body, otherwise);
	}

	@Test
	void theResultMayBeNull() {
		Object result = this.template.execute(REQUEST, (lease) -> null);
		assertThat(result).isNull();
	}

	@Test
	void aResultBehindWhichWorkBeginsOrContinuesIsRefusedAfterTheBodyHasRun() {
		List<?> results = List.of(new CompletableFuture<>(), Stream.of(1), List.of(1).iterator(),
				new SubmissionPublisher<>(), SequencesKt.sequenceOf(1), LazyKt.lazyOf(1), JobKt.Job(null),
				FlowKt.flowOf(1));
		Cases.each(results, this::assertUnfinished);
		assertUnfinished(new CompletableFuture<>().minimalCompletionStage());
		assertThatIllegalStateException()
			.isThrownBy(() -> this.template.execute(List.of(REQUEST, OTHER), (leases) -> Stream.of(1)))
			.withMessageContaining("lock 'stock:1001', 'stock:1002'");
	}

	private void assertUnfinished(Object result) {
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(REQUEST, (lease) -> result))
			.withMessageContaining("lock 'stock:1001'")
			.withMessageContaining("has returned a " + result.getClass().getName())
			.withMessageContaining("executeAsync");
		assertThat(isTaken(REQUEST)).isFalse();
	}

	/**
	 * What is to be done after the lock, and values that are only functions by chance.
	 */
	@Test
	void anyOtherResultIsReturned() {
		Runnable later = () -> {
		};
		List<?> results = List.of(CompletableFuture.completedFuture(1), CompletableFuture.completedStage(1),
				CompletableFuture.failedFuture(new IOException()), new FunctionByChance(), later, List.of(1));
		Cases.each(results, (result) -> {
			Object returned = this.template.execute(REQUEST, (lease) -> result);
			assertThat(returned).isSameAs(result);
		});
	}

	@Test
	void theCurrentLeaseIsThatOfTheInnermostBody() {
		assertNoCurrentLease();
		this.template.executeWithoutResult(REQUEST, (outer) -> {
			assertThat(Lease.current()).isSameAs(outer);
			this.template.executeWithoutResult(OTHER, (inner) -> {
				assertThat(Lease.current()).isSameAs(inner);
				assertThat(Lease.current().key()).isEqualTo(OTHER.key());
			});
			assertThat(Lease.current()).isSameAs(outer);
			this.template.executeWithoutResult(AT_ONCE, (nested) -> {
				assertThat(Lease.current()).isSameAs(nested);
				assertThat(nested.fencingToken()).isEqualTo(outer.fencingToken());
			});
			assertThat(Lease.current()).isSameAs(outer);
		});
		assertNoCurrentLease();
	}

	@Test
	void theCurrentLeaseIsRestoredAfterAnExceptionAndAfterALoss() {
		this.template.executeWithoutResult(OTHER, (outer) -> {
			assertThatIllegalStateException().isThrownBy(() -> this.template.execute(REQUEST, (inner) -> {
				throw new IllegalStateException("of the body");
			}));
			assertThat(Lease.current()).isSameAs(outer);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> this.template.executeWithoutResult(FIXED, (inner) -> this.time.advance(LEASE_TIME)));
			assertThat(Lease.current()).isSameAs(outer);
		});
	}

	@Test
	void otherThreadsDoNotSeeTheCurrentLease() {
		this.template.executeWithoutResult(REQUEST,
				(lease) -> assertThatIllegalStateException().isThrownBy(() -> Callers.start(Lease::current).get())
					.withMessageContaining("no current lease"));
	}

	@Test
	void withoutAHandlerItsReasonIsThrown() {
		loseRequests(true);
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.template.execute(AT_ONCE, this::countedBody));
		loseRequests(false);
		this.instances.holdElsewhere(KEY, LEASE_TIME);
		assertThatExceptionOfType(LockContendedException.class)
			.isThrownBy(() -> this.template.execute(AT_ONCE, this::countedBody));
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void theHandlerOfContentionRunsAfterTheWaitAndWithoutALease() {
		this.instances.holdElsewhere(KEY, Duration.ofSeconds(30));
		Function<LockException, String> handler = (failure) -> {
			assertNoCurrentLease();
			assertThat(failure).isInstanceOfSatisfying(LockContendedException.class,
					(contention) -> assertThat(contention.getWaited()).isEqualTo(Duration.ofSeconds(3)));
			return "handler";
		};
		LockRequest patient = REQUEST.withWaitTime(Duration.ofSeconds(3));
		String result = this.time.letPass(() -> this.template.executeOrElse(patient, this::countedBody, handler));
		assertThat(result).isEqualTo("handler");
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void anEmptyResultOfTryExecuteSaysThatNothingWasExecuted() {
		assertThat(this.template.tryExecute(AT_ONCE, this::countedBody)).isPresent();
		assertThat(this.runs).hasValue(1);
		this.instances.holdElsewhere(KEY, LEASE_TIME);
		assertThat(this.template.tryExecute(AT_ONCE, this::countedBody)).isEmpty();
		loseRequests(true);
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.template.tryExecute(AT_ONCE, this::countedBody));
		loseRequests(false);
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void tryExecuteRefusesAnUnfinishedResultAsExecuteDoes() {
		CompletableFuture<String> unfinished = new CompletableFuture<>();
		assertThatIllegalStateException().isThrownBy(() -> this.template.tryExecute(REQUEST, (lease) -> unfinished))
			.withMessageContaining("has returned a " + CompletableFuture.class.getName());
		assertThat(this.template.tryExecute(REQUEST, (lease) -> Optional.empty())).contains(Optional.empty());
		assertThat(isTaken(REQUEST)).isFalse();
	}

	@Test
	void tryExecuteRefusesABodyThatReturnsNullInsteadOfSayingThatItWasNotExecuted() {
		assertThatNullPointerException().isThrownBy(() -> this.template.tryExecute(AT_ONCE, (lease) -> null));
	}

	@Test
	void noBodyAndNoHandlerRunsOnAnInterruptedThread() {
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(() -> executeUnhandled(this::countedBody));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void aBodyMayThrowACheckedException() {
		IOException expected = new IOException("expected by the test");
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.template.executeChecked(REQUEST, (lease) -> {
			throw expected;
		})).isSameAs(expected);
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void contentionWithinTheBodyIsNotHandled() {
		this.instances.holdElsewhere(OTHER.key(), LEASE_TIME);
		assertThatExceptionOfType(LockContendedException.class)
			.isThrownBy(() -> executeUnhandled(
					(lease) -> this.template.execute(OTHER.withWaitTime(Duration.ZERO), this::countedBody)))
			.satisfies((contention) -> assertThat(contention.getKey()).isEqualTo(OTHER.key()));
		LockContendedException expected = new LockContendedException(KEY, Duration.ZERO);
		assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> executeUnhandled((lease) -> {
			throw expected;
		})).isSameAs(expected);
		assertThat(this.runs).hasValue(0);
		assertThat(isTaken(REQUEST)).isFalse();
	}

	@Test
	void anOutageWithinTheBodyIsNotHandled() {
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> executeUnhandled((lease) -> {
			loseRequests(true);
			return this.template.execute(OTHER.withWaitTime(Duration.ZERO), this::countedBody);
		})).satisfies((outage) -> assertThat(outage.getKey()).isEqualTo(OTHER.key()));
		loseRequests(false);
		LockUnavailableException expected = new LockUnavailableException(KEY, "no answer", null);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> executeUnhandled((lease) -> {
			throw expected;
		})).isSameAs(expected);
		assertThat(this.runs).hasValue(0);
		assertThat(isTaken(REQUEST)).isFalse();
	}

	@Test
	void aNestedBodyDoesNotRunAfterTheLoss() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.template.execute(FIXED, (lease) -> {
			this.time.advance(LEASE_TIME);
			return this.template.execute(REQUEST, this::countedBody);
		})).withMessageContaining("lease time of 5000 ms expired");
		assertThat(this.runs).hasValue(0);
		assertThat(this.registry.tryAcquire(REQUEST)).hasValueSatisfying(Lease::close);
	}

	@Test
	void whenALossIsOnlyLoggedTheBodyCanStillSeeIt() {
		this.template.withOnLost(OnLost.LOG).executeWithoutResult(FIXED, (lease) -> {
			this.time.advance(LEASE_TIME);
			assertThat(lease.isHeld()).isFalse();
			assertThat(lease.remaining()).isZero();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureHeld)
				.satisfies((loss) -> assertThat(loss.getFencingToken()).isEqualTo(lease.fencingToken()));
		});
	}

	@Test
	void aTemplateWithAnotherReactionLeavesTheFirstAsItWas() {
		this.template.withOnLost(OnLost.LOG);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.executeWithoutResult(REQUEST, (lease) -> this.memory.clear()));
	}

	@ParameterizedTest
	@EnumSource(value = OnLost.class, names = { "THROW", "INTERRUPT" })
	void aLossThatTheBodyHasThrownIsNotRepeated(OnLost onLost) {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.withOnLost(onLost).execute(FIXED, (lease) -> {
				this.time.advance(LEASE_TIME);
				throw new LockLostException(lease.key(), lease.fencingToken(), "at the commit");
			}))
			.withMessageContaining("at the commit")
			.satisfies((loss) -> assertThat(loss.getSuppressed()).isEmpty());
	}

	@Test
	void theLossOfAnotherLeaseIsSuppressed() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.template.execute(REQUEST, (lease) -> {
			this.memory.clear();
			throw new LockLostException(lease.key(), lease.fencingToken() - 1, "before");
		}))
			.withMessageContaining("before")
			.satisfies((loss) -> assertThat(loss.getSuppressed()).hasExactlyElementsOfTypes(LockLostException.class));
	}

	@Test
	void aBlockedBodyIsInterruptedByTheLoss() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> interrupting().executeChecked(FIXED, (lease) -> blockAfterLoss()))
			.withMessageContaining("lease time of 5000 ms expired")
			.satisfies(
					(loss) -> assertThat(loss.getSuppressed()).hasAtLeastOneElementOfType(InterruptedException.class));
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void aBlockedBodyIsInterruptedWhenARenewalFindsTheLockGone() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> interrupting().executeChecked(REQUEST, (lease) -> {
				this.memory.clear();
				this.time.advance(Duration.ofSeconds(5));
				return blockAfterLoss();
			}))
			.withMessageContaining("the store no longer knew its owner");
	}

	@Test
	void aBodyThatReturnsNormallyAfterTheInterruptIsNotSuccessful() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> interrupting().execute(FIXED, (lease) -> {
			assertThatExceptionOfType(InterruptedException.class).isThrownBy(this::blockAfterLoss);
			return countedBody(lease);
		}));
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void anInterruptThatTheBodyDidNotNoticeIsTakenBack() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> interrupting().execute(FIXED, (lease) -> {
			this.time.advance(LEASE_TIME);
			assertThat(Thread.currentThread().isInterrupted()).isTrue();
			return countedBody(lease);
		}));
		assertThat(this.runs).hasValue(1);
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void aBodyIsInterruptedOnce() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> interrupting().execute(FIXED, (lease) -> {
			assertThatExceptionOfType(InterruptedException.class).isThrownBy(this::blockAfterLoss);
			this.memory.clear();
			this.time.advance(LEASE_TIME);
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			return countedBody(lease);
		}));
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void aThreadIsNotInterruptedAfterItHasLeftTheBody() throws InterruptedException {
		CountDownLatch left = new CountDownLatch(1);
		DefaultLockRegistry late = this.instances.registry(this.store, (event) -> {
			if (event instanceof LockEvent.Lost) {
				await(left);
			}
		});
		CountDownLatch told = new CountDownLatch(1);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> new LockTemplate(late).withOnLost(OnLost.INTERRUPT).execute(FIXED, (lease) -> {
				lease.onLost((loss) -> told.countDown());
				this.time.advance(LEASE_TIME);
				return countedBody(lease);
			}));
		assertThat(this.runs).hasValue(1);
		left.countDown();
		await(told);
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void anInterruptByAnybodyElseIsLeftToTheBodyAndItsCaller() {
		interrupting().executeWithoutResult(REQUEST, (lease) -> Thread.currentThread().interrupt());
		assertThat(Thread.interrupted()).isTrue();
		assertThatExceptionOfType(InterruptedException.class)
			.isThrownBy(() -> interrupting().executeChecked(REQUEST, (lease) -> {
				Thread.currentThread().interrupt();
				return new CountDownLatch(1).await(20, TimeUnit.SECONDS);
			}));
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void anInterruptThatCameBeforeTheLossIsLeftToTheCaller() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> interrupting().executeWithoutResult(FIXED, (lease) -> {
				CountDownLatch told = new CountDownLatch(1);
				lease.onLost((loss) -> told.countDown());
				Thread.currentThread().interrupt();
				this.time.advance(LEASE_TIME);
				while (told.getCount() > 0) {
					Thread.onSpinWait();
				}
			}));
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void anInterruptThatFollowsTheOneThatTheBodyNoticedIsLeftToTheCaller() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> interrupting().executeChecked(FIXED, (lease) -> {
				try {
					return blockAfterLoss();
				}
				finally {
					Thread.currentThread().interrupt();
				}
			}));
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void anInterruptThatTheBodyNotesAndWrapsIsTakenBack() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> interrupting().execute(FIXED, (lease) -> {
			try {
				return blockAfterLoss();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IllegalStateException(ex);
			}
		}));
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void bodiesOfOneLockRunOneAtATime() throws Exception {
		int[] unguarded = new int[1];
		List<Call<Integer>> callers = new ArrayList<>();
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

	private String executeUnhandled(Function<Lease, String> body) {
		return this.template.executeOrElse(REQUEST, body, AbstractBodyTests::unexpected);
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new AssertionError("must not be interrupted", ex);
		}
	}

	private static void assertNoCurrentLease() {
		assertThatIllegalStateException().isThrownBy(Lease::current)
			.withMessageContaining("no current lease")
			.withMessageContaining("a call of the annotated method within its own bean");
	}

	private static final class FunctionByChance implements Supplier<Integer>, Iterable<Integer> {

		@Override
		public Integer get() {
			return 1;
		}

		@Override
		public Iterator<Integer> iterator() {
			return List.of(1).iterator();
		}

	}

}
