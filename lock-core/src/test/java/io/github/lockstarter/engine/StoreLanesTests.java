// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;

class StoreLanesTests {

	private static final int THREADS_OF_LANE = 2;

	private static final int THREADS_OF_ALL = 5;

	private final ThreadPoolExecutor threads = (ThreadPoolExecutor) Executors.newCachedThreadPool();

	private final ManualTime time = new ManualTime();

	private final Timetable timetable = new Timetable(this.time);

	private final StoreLanes lanes = new StoreLanes(LockKey::name, this.threads, this.timetable, THREADS_OF_LANE,
			THREADS_OF_ALL);

	private final CountDownLatch silence = new CountDownLatch(1);

	private final AtomicInteger done = new AtomicInteger();

	@AfterEach
	void end() {
		this.silence.countDown();
		this.threads.shutdown();
	}

	@Test
	void aServerThatDoesNotAnswerDelaysNoOther() {
		ask("silent", 100);
		answer("quick", 100);
		Awaitility.await().until(() -> this.done.get() == 100);
		this.silence.countDown();
		Awaitility.await().until(() -> this.done.get() == 200);
	}

	@Test
	void aRequestForALockDoesNotWaitForWhatItsServerIsAskedInTheBackground() {
		LockKey key = LockKey.of("silent");
		try (EngineThreads threads = new EngineThreads(new MemoryLockStore(), this.time)) {
			for (int i = 0; i < 100; i++) {
				threads.background().execute(key, () -> Callers.await(this.silence));
			}
			threads.requests().execute(key, this.done::incrementAndGet);
			Awaitility.await().until(() -> this.done.get() == 1);
			this.silence.countDown();
		}
	}

	@Test
	void tasksForWhichNoThreadCouldBeStartedRunLater() {
		AtomicBoolean exhausted = new AtomicBoolean(true);
		StoreLanes lanes = new StoreLanes(LockKey::name, (task) -> {
			if (exhausted.get()) {
				throw new OutOfMemoryError("unable to create native thread");
			}
			this.threads.execute(task);
		}, this.timetable, 1, 2);
		lanes.execute("server", this.done::incrementAndGet);
		lanes.execute("other", this.done::incrementAndGet);
		runNextAttempts();
		assertThat(this.done).hasValue(0);
		exhausted.set(false);
		runNextAttempts();
		Awaitility.await().until(() -> this.done.get() == 2);
		assertThat(this.timetable.size()).isZero();
		lanes.execute("server", this.done::incrementAndGet);
		Awaitility.await().until(() -> this.done.get() == 3);
	}

	private void runNextAttempts() {
		this.time.advance(Duration.ofSeconds(1));
		this.timetable.runDue();
	}

	@Test
	void aServerIsAskedByAFewThreadsAtATime() {
		ask("silent", 100);
		Awaitility.await().until(() -> this.threads.getActiveCount() == THREADS_OF_LANE);
		assertThat(this.threads.getLargestPoolSize()).isEqualTo(THREADS_OF_LANE);
	}

	@Test
	void thereIsALimitForAllServersTogether() {
		for (int i = 0; i < 10; i++) {
			ask("silent-" + i, 10);
		}
		Awaitility.await().until(() -> this.threads.getActiveCount() == THREADS_OF_ALL);
		assertThat(this.threads.getLargestPoolSize()).isEqualTo(THREADS_OF_ALL);
		this.silence.countDown();
		Awaitility.await().until(() -> this.done.get() == 100);
	}

	@Test
	void serversTakeTurnsIfThreadsAreScarce() {
		ask("silent-1", 10);
		ask("silent-2", 10);
		CountDownLatch begun = new CountDownLatch(1);
		this.lanes.execute(LockKey.of("busy"), () -> Callers.await(begun));
		AtomicInteger busy = new AtomicInteger();
		for (int i = 0; i < 1000; i++) {
			this.lanes.execute(LockKey.of("busy"), busy::incrementAndGet);
		}
		AtomicInteger before = new AtomicInteger();
		this.lanes.execute(LockKey.of("late"), () -> before.set(busy.get() + 1));
		begun.countDown();
		Awaitility.await().until(() -> before.get() > 0);
		assertThat(before.get()).isLessThan(100);
		Awaitility.await().until(() -> busy.get() == 1000);
	}

	@Test
	void aTaskThatFailsCostsNoOther() {
		this.lanes.execute(LockKey.of("quick"), () -> {
			throw new IllegalStateException("it is a test");
		});
		answer("quick", 10);
		Awaitility.await().until(() -> this.done.get() == 10);
	}

	@Test
	void whatIsAskedOfOneServerByOneThreadStaysInOrder() {
		StringBuffer order = new StringBuffer();
		StoreLanes narrow = new StoreLanes(LockKey::name, this.threads, this.timetable, 1, THREADS_OF_ALL);
		for (int i = 0; i < 10; i++) {
			String text = String.valueOf(i);
			narrow.execute(LockKey.of("quick"), () -> order.append(text));
		}
		Awaitility.await().until(() -> order.length() == 10);
		assertThat(order).hasToString("0123456789");
	}

	private void ask(String server, int count) {
		for (int i = 0; i < count; i++) {
			this.lanes.execute(LockKey.of(server, i), () -> {
				Callers.await(this.silence);
				this.done.incrementAndGet();
			});
		}
	}

	private void answer(String server, int count) {
		for (int i = 0; i < count; i++) {
			this.lanes.execute(LockKey.of(server, i), this.done::incrementAndGet);
		}
	}

}
