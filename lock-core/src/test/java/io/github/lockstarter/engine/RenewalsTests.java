// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;

class RenewalsTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private final ManualTime time = new ManualTime();

	private final Timetable timetable = new Timetable(this.time);

	private final Servers servers = new Servers();

	private final List<Ownership> ownerships = new ArrayList<>();

	private final List<Ownership> lost = new ArrayList<>();

	private LeaseWatchdog watchdog = watchdog(Runnable::run);

	@Test
	void sendsWhatIsDueTogetherInBatches() {
		due("quick", 250);
		assertThat(this.servers.batches).extracting(List::size).containsExactly(100, 100, 50);
		assertThat(answered("quick")).isEqualTo(250);
		assertThat(this.timetable.size()).as("next renewals").isEqualTo(250);
	}

	@Test
	void anAnswerThatIsMissingDelaysNoOther() {
		due("dead", 10_000);
		due("quick", 300);
		assertThat(answered("dead")).isZero();
		assertThat(answered("quick")).isEqualTo(300);
	}

	@Test
	void aStoreThatBlocksKeepsNoRenewalBehindAnythingElse() {
		CountDownLatch silence = new CountDownLatch(1);
		this.servers.silence = silence;
		try (EngineThreads threads = new EngineThreads(this.time)) {
			this.watchdog = watchdog(threads.renewals());
			for (int i = 0; i < 200; i++) {
				threads.store().execute(() -> Callers.await(silence));
				threads.requests().execute(() -> Callers.await(silence));
			}
			due("blocking", 1);
			due("quick", 300);
			Awaitility.await().until(() -> answered("quick") == 300);
			assertThat(answered("blocking")).isZero();
			silence.countDown();
			Awaitility.await().until(() -> answered("blocking") == 1);
		}
		finally {
			silence.countDown();
		}
	}

	@Test
	void aLeaseWhoseRenewalIsNotAnsweredIsLostAtItsDeadline() {
		due("dead", 3);
		long left = this.ownerships.get(0).remainingNanos();
		advance(Duration.ofNanos(left - 1));
		assertThat(this.lost).isEmpty();
		advance(Duration.ofNanos(1));
		assertThat(this.lost).hasSize(3);
	}

	@Test
	void aLeaseIsRenewedAgainWhoseRenewalHasFoundNoMemory() {
		List<Throwable> errors = new ArrayList<>();
		this.watchdog = watchdog((task) -> {
			try {
				task.run();
			}
			catch (OutOfMemoryError ex) {
				errors.add(ex);
			}
		});
		due("full", 1);
		assertThat(errors).hasSize(1);
		for (int i = 0; i < 30; i++) {
			advance(LEASE.dividedBy(10));
		}
		assertThat(this.lost).isEmpty();
		assertThat(this.ownerships.get(0).isHeld()).isTrue();
	}

	@Test
	void eachLeaseOfABatchIsLostAtItsOwnDeadline() {
		Ownership brief = ownership("dead", 1, LEASE.dividedBy(2));
		Ownership longer = ownership("dead", 2);
		for (Ownership each : List.of(brief, longer)) {
			hold(each);
			this.watchdog.watch(each);
			this.watchdog.hasten(each);
		}
		advance(Duration.ZERO);
		assertThat(this.servers.batches).extracting(List::size).containsExactly(2);
		advance(Duration.ofNanos(brief.remainingNanos()));
		assertThat(this.lost).containsExactly(brief);
		advance(Duration.ofNanos(longer.remainingNanos() - 1));
		assertThat(this.lost).containsExactly(brief);
		advance(Duration.ofNanos(1));
		assertThat(this.lost).containsExactly(brief, longer);
	}

	@Test
	void theDeadlineIsCountedFromTheSendingOfARenewalAndNotFromItsAnswer() {
		Ownership ownership = ownership("dead", 1);
		hold(ownership);
		long granted = ownership.deadline() - this.time.now();
		this.watchdog.watch(ownership);
		while (this.servers.unanswered.isEmpty()) {
			advance(Duration.ofMillis(10));
		}
		long sentAt = this.time.now();
		advance(Duration.ofSeconds(8));
		this.servers.answerAll();
		assertThat(ownership.deadline()).isEqualTo(sentAt + granted);
	}

	@Test
	void aRenewalOfAFixedLeaseReachesItsEndAndNotFurther() {
		Duration fixed = LEASE.multipliedBy(20);
		long start = this.time.now();
		Ownership ownership = ownership("quick", 1, fixed);
		Hold hold = ownership.beginHold(new ThreadWaiter(new Terms(EngineSettings.DEFAULTS, this.time), Duration.ZERO,
				LockMode.EXCLUSIVE, fixed, null, Thread.currentThread()), start);
		for (int i = 1; i < 19; i++) {
			this.time.advance(LEASE);
			Duration extension = renew(ownership);
			assertThat(this.time.now() - start + extension.toNanos())
				.isLessThanOrEqualTo(fixed.plusMillis(1).toNanos());
			assertThat(ownership.needsRenewal()).isTrue();
		}
		this.time.advance(Duration.ofNanos(hold.endsAt() - this.time.now() - 1));
		assertThat(renew(ownership)).as("the lease of the last nanosecond")
			.isGreaterThanOrEqualTo(Duration.ofMillis(1));
		assertThat(ownership.needsRenewal()).isFalse();
		assertThat(renew(ownership)).isZero();
	}

	private Duration renew(Ownership ownership) {
		Duration extension = ownership.neededLease(this.time.now());
		assertThat(extension).isEqualTo(extension.truncatedTo(ChronoUnit.MILLIS));
		if (!extension.isZero()) {
			ownership.renewed(this.time.now(), extension, LEASE);
		}
		return extension;
	}

	@Test
	void whatWasReleasedInTheMeantimeIsNotSent() {
		List<Runnable> held = new ArrayList<>();
		this.watchdog = watchdog(held::add);
		due("quick", 1);
		this.ownerships.get(0).release();
		held.forEach(Runnable::run);
		assertThat(this.servers.batches).isEmpty();
	}

	@Test
	void whatIsReleasedWhileItIsSentIsReleasedAgainAfterItsRelease() {
		this.servers.onRenewal = () -> this.ownerships.get(0).release();
		due("quick", 2);
		assertThat(this.servers.batches).as("requests before that").hasSize(1);
		assertThat(this.ownerships.get(0).answered()).isTrue();
		assertThat(this.ownerships.get(1).answered()).isFalse();
	}

	private LeaseWatchdog watchdog(Executor threads) {
		Orphans orphans = new Orphans(this.servers, this.timetable, Runnable::run, () -> {
		});
		LeaseEvents notice = new LeaseEvents("memory", (event) -> {
		}, Runnable::run, Runnable::run, EngineProbe.outages(this.timetable));
		return new LeaseWatchdog(this.servers, this.timetable, threads, orphans, notice, this.lost::add, LEASE, 3);
	}

	/** Let renewals of new leases become due at the same time. */
	private void due(String server, int count) {
		for (int i = 0; i < count; i++) {
			Ownership ownership = ownership(server, i);
			hold(ownership);
			this.ownerships.add(ownership);
			this.watchdog.watch(ownership);
			this.watchdog.hasten(ownership);
		}
		this.timetable.runDue();
	}

	private long answered(String server) {
		return this.ownerships.stream()
			.filter((ownership) -> ownership.key().name().equals(server) && !ownership.isRenewing())
			.count();
	}

	private void advance(Duration duration) {
		this.time.advance(duration);
		this.timetable.runDue();
	}

	private void hold(Ownership ownership) {
		ownership.beginHold(new ThreadWaiter(new Terms(EngineSettings.DEFAULTS, this.time), Duration.ZERO,
				LockMode.EXCLUSIVE, null, null, Thread.currentThread()), this.time.now());
	}

	private Ownership ownership(String server, int number) {
		return ownership(server, number, LEASE);
	}

	private Ownership ownership(String server, int number, Duration leaseTime) {
		return new Ownership(LockKey.of(server, number), OwnerToken.random(), new AcquireResult.Grant(1), leaseTime,
				LEASE, this.time.now(), 0, this.timetable);
	}

	/**
	 * A store with several servers. The one called dead answers on demand, requests to
	 * those called blocking do not return before, and the first answer of the one called
	 * full finds no memory.
	 */
	private static final class Servers implements LockStore {

		private final List<List<LeaseRequest>> batches = Collections.synchronizedList(new ArrayList<>());

		private final List<CompletableFuture<Boolean>> unanswered = new ArrayList<>();

		private volatile @Nullable CountDownLatch silence;

		private Runnable onRenewal = () -> {
		};

		@Override
		public Set<LockMode> modes() {
			return Set.of(LockMode.EXCLUSIVE);
		}

		@Override
		public List<CompletionStage<Boolean>> renew(List<LeaseRequest> extensions) {
			this.batches.add(extensions);
			this.onRenewal.run();
			if (extensions.get(0).key().name().startsWith("blocking")) {
				Callers.await(Objects.requireNonNull(this.silence));
			}
			return extensions.stream().<CompletionStage<Boolean>>map(this::answer).toList();
		}

		private CompletableFuture<Boolean> answer(LeaseRequest extension) {
			if (extension.key().name().equals("full") && this.batches.size() == 1) {
				return new CompletableFuture<>() {
					@Override
					public CompletableFuture<Boolean> whenComplete(
							BiConsumer<? super Boolean, ? super Throwable> action) {
						throw new OutOfMemoryError("it is a test");
					}
				};
			}
			CompletableFuture<Boolean> answer = new CompletableFuture<>();
			if (extension.key().name().equals("dead")) {
				this.unanswered.add(answer);
			}
			else {
				answer.complete(true);
			}
			return answer;
		}

		void answerAll() {
			for (int i = 0; i < this.unanswered.size(); i++) {
				this.unanswered.get(i).complete(true);
			}
		}

		@Override
		public CompletionStage<AcquireResult> acquire(LeaseRequest request, boolean wait) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletionStage<Boolean> release(LockKey key, OwnerToken owner) {
			return CompletableFuture.completedFuture(false);
		}

	}

}
