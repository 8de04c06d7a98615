// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.WeakHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.engine.Time;

/**
 * A time that moves only on demand. Give it to a registry, and as its clock to the
 * {@code LockMemory} that its store uses; several registries may share it. Then leases
 * expire, waits end and renewals are sent at the exact time, and no test waits for them:
 * <ul>
 * <li>{@link #advance} moves the time, step by step. At each step the current thread does
 * what is due, and each thread whose wait time is over goes on.</li>
 * <li>{@link #awaitParked} waits until other threads wait for a lock, so that time is not
 * moved before their wait has begun.</li>
 * <li>{@link #letPass} is for a call that waits on the current thread.</li>
 * </ul>
 * Callbacks and asynchronous steps run on threads of the registry, as ever, and have come
 * to their end when {@link #advance} returns. After anything else that starts them, call
 * {@link #settle}. The time starts just before the overflow of a {@code long}, with which
 * code that compares two times must cope. Its random numbers are always the same.
 */
public final class ManualTime implements Time, LongSupplier {

	/** No test waits for as long, except one that hangs. */
	private static final long PATIENCE = Duration.ofSeconds(20).toNanos();

	private static final long GLANCE = TimeUnit.MICROSECONDS.toNanos(20);

	private static final long YIELD = TimeUnit.MICROSECONDS.toNanos(1);

	private static final int MOST_STEPS = 10_000;

	/** What is due later than that is never due. */
	private static final long FAR = Duration.ofDays(3650).toNanos();

	private final Random random = new Random(0);

	/** Held by the thread that moves the time. */
	private final ReentrantLock moving = new ReentrantLock();

	private final List<Schedule> schedules = new CopyOnWriteArrayList<>();

	/** Guards what is known of threads. */
	private final ReentrantLock guard = new ReentrantLock();

	private final Condition changed = this.guard.newCondition();

	/** The parked threads. Guarded. */
	private final Map<Thread, Parking> parked = new HashMap<>();

	/** Threads that were unparked before they have parked. Guarded. */
	private final Map<Thread, Boolean> permits = new WeakHashMap<>();

	/** Threads that park although their wait should end, and how often. Guarded. */
	private final Map<Thread, Integer> parkedInVain = new WeakHashMap<>();

	/** Threads that were let go, and whether they have noticed. Guarded. */
	private final Map<Thread, Boolean> released = new HashMap<>();

	/** Tasks of registries and the threads that run them, if they have begun. Guarded. */
	private final Map<Task, @Nullable Thread> tasks = new HashMap<>();

	/** In the order of their beginnings. */
	private final List<Stretch> passing = new CopyOnWriteArrayList<>();

	private volatile long now = Long.MAX_VALUE - Duration.ofSeconds(5).toNanos();

	@Override
	public long now() {
		return this.now;
	}

	@Override
	public long getAsLong() {
		return this.now;
	}

	@Override
	public long random(long bound) {
		return this.random.nextLong(bound);
	}

	@Override
	public @Nullable Thread start(Schedule schedule) {
		this.schedules.add(schedule);
		return null;
	}

	@Override
	public Executor observe(Executor threads) {
		return (command) -> {
			Task task = new Task(threads, command);
			note(task, null);
			try {
				threads.execute(() -> run(task));
			}
			catch (RuntimeException | Error ex) {
				forget(task);
				throw ex;
			}
		};
	}

	/**
	 * Move the time, and do on the current thread what becomes due. Before each step and
	 * after the last one everything {@linkplain #settle() settles}.
	 */
	public void advance(Duration duration) {
		this.moving.lock();
		try {
			long target = this.now + duration.toNanos();
			settle();
			while (target - this.now > 0 || nextDue() - target <= 0) {
				step(earlier(nextDue(), target));
			}
		}
		finally {
			this.moving.unlock();
		}
	}

	/**
	 * Wait until what is under way has settled: each thread that was let go, and each
	 * task of a registry, such as a callback, has ended, or waits for something.
	 */
	public void settle() {
		this.guard.lock();
		try {
			long left = PATIENCE;
			while (!isSettled()) {
				if (left <= 0) {
					throw new IllegalStateException("Time cannot move while these threads run: "
							+ this.released.keySet() + " " + this.tasks.values());
				}
				left -= glance();
			}
			this.released.keySet().removeIf((thread) -> thread != Thread.currentThread());
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * Wait for a moment, and keep the flag of an interrupt for what is under way to see.
	 * @return the length of that moment, about
	 */
	private long glance() {
		if (Thread.currentThread().isInterrupted()) {
			this.guard.unlock();
			Thread.yield();
			this.guard.lock();
			return YIELD;
		}
		try {
			return GLANCE - this.changed.awaitNanos(GLANCE);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return YIELD;
		}
	}

	/**
	 * Run an action for which time passes: whenever the current thread parks, the time
	 * moves to what is due next. For calls that nothing but time will end, such as a vain
	 * wait for a lock, or a shutdown.
	 * @return the result of the action
	 */
	public <T extends @Nullable Object> T letPass(Supplier<T> action) {
		try (Passing passing = letPass()) {
			return action.get();
		}
	}

	/**
	 * Let time pass for the current thread, as {@link #letPass(Supplier)} does, until the
	 * result is closed. Several results may be closed in any order.
	 */
	public Passing letPass() {
		Stretch stretch = new Stretch(Thread.currentThread());
		this.passing.add(stretch);
		return () -> this.passing.remove(stretch);
	}

	/**
	 * Run an action for which time passes, as {@link #letPass(Supplier)} does.
	 */
	public void letPass(Runnable action) {
		letPass(() -> {
			action.run();
			return true;
		});
	}

	/**
	 * Move the time to what is due next if a thread waits for others, as for the result
	 * of a future, and no thread is parked. For requests without a thread that nothing
	 * but time will end.
	 */
	public void passWhileWaiting(Thread thread) {
		passIf(() -> waitsForOthers(thread));
	}

	private boolean waitsForOthers(Thread thread) {
		this.guard.lock();
		try {
			Object blocker = LockSupport.getBlocker(thread);
			return this.parked.isEmpty() && (isAtLatch(thread)
					|| (blocker != null && blocker != this.changed && !isAtReentrantLock(thread) && isWaiting(thread)));
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * Wait until exactly some number of threads are parked: each of them waits for a
	 * lock, or for the end of a registry.
	 */
	public void awaitParked(int threads) {
		this.guard.lock();
		try {
			long left = PATIENCE;
			while (this.parked.size() != threads) {
				if (left <= 0) {
					throw new AssertionError(threads + " threads should be parked, but these are: "
							+ this.parked.keySet() + ". Futures and Monos wait without a thread: for them, call"
							+ " advance(…) at once");
				}
				left = this.changed.awaitNanos(left);
			}
		}
		catch (InterruptedException ex) {
			throw new AssertionError("Must not be interrupted", ex);
		}
		finally {
			this.guard.unlock();
		}
	}

	@Override
	public void parkUntil(Object blocker, long deadline) {
		Thread current = Thread.currentThread();
		this.guard.lock();
		try {
			this.released.remove(current);
			if (this.permits.remove(current) != null) {
				return;
			}
			requireProgress(current, deadline);
			this.parked.put(current, new Parking(deadline, this.guard.newCondition()));
			this.changed.signalAll();
		}
		finally {
			this.guard.unlock();
		}
		try {
			if (!pass(current)) {
				await(current);
			}
		}
		finally {
			leave(current);
		}
	}

	/** A thread that ignores its deadline, or an interrupt, would park for ever. */
	private void requireProgress(Thread current, long deadline) {
		if (deadline - this.now > 0 && !current.isInterrupted()) {
			this.parkedInVain.remove(current);
		}
		else if (this.parkedInVain.merge(current, 1, Integer::sum) > MOST_STEPS) {
			throw new IllegalStateException("Neither its deadline nor an interrupt ends the wait");
		}
	}

	private void await(Thread current) {
		this.guard.lock();
		try {
			long left = PATIENCE;
			Parking parking = this.parked.get(current);
			while (parking != null && parking.deadline() - this.now > 0) {
				if (left <= 0) {
					throw new IllegalStateException("Nobody lets this thread go: call advance(…) on another one, or"
							+ " before this call if only time would end its wait. With a ManualTime of your own, you"
							+ " can also let it wait inside letPass(…)");
				}
				left = parking.end().awaitNanos(left);
				parking = this.parked.get(current);
			}
		}
		catch (InterruptedException ex) {
			current.interrupt();
		}
		finally {
			this.guard.unlock();
		}
	}

	private void run(Task task) {
		note(task, Thread.currentThread());
		try {
			task.command.run();
		}
		finally {
			forget(task);
		}
	}

	private void note(Task task, @Nullable Thread thread) {
		this.guard.lock();
		try {
			this.tasks.put(task, thread);
		}
		finally {
			this.guard.unlock();
		}
	}

	private void forget(Task task) {
		this.guard.lock();
		try {
			this.tasks.remove(task);
			this.changed.signalAll();
		}
		finally {
			this.guard.unlock();
		}
	}

	private void leave(Thread thread) {
		this.guard.lock();
		try {
			this.parked.remove(thread);
			this.released.replace(thread, true);
			this.changed.signalAll();
		}
		finally {
			this.guard.unlock();
		}
	}

	@Override
	public void unpark(Thread thread) {
		this.guard.lock();
		try {
			Parking parking = this.parked.remove(thread);
			if (parking == null) {
				this.permits.put(thread, true);
				return;
			}
			this.released.put(thread, false);
			parking.end().signal();
			this.changed.signalAll();
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * Let time pass for a parked thread, if that is wanted and something will be due.
	 * @return whether the thread must look at what it waits for
	 */
	private boolean pass(Thread current) {
		Stretch stretch = this.passing.stream().filter((each) -> each.thread == current).findFirst().orElse(null);
		if (stretch == null) {
			return false;
		}
		if (++stretch.steps > MOST_STEPS) {
			throw new IllegalStateException("Time passes, but does not end the wait");
		}
		return passIf(() -> isParked(current));
	}

	private boolean passIf(BooleanSupplier waits) {
		this.moving.lock();
		try {
			settle();
			long next = nextDue();
			boolean due = waits.getAsBoolean() && next - this.now < FAR;
			if (due) {
				step(next);
			}
			return due;
		}
		finally {
			this.moving.unlock();
		}
	}

	private boolean isParked(Thread thread) {
		this.guard.lock();
		try {
			return this.parked.containsKey(thread) && !thread.isInterrupted();
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * Return when something is due next: an action, or the end of a wait.
	 */
	private long nextDue() {
		this.schedules.removeIf(Schedule::isClosed);
		LongStream actions = this.schedules.stream().mapToLong(Schedule::nextDue);
		this.guard.lock();
		try {
			LongStream ends = this.parked.values().stream().mapToLong(Parking::deadline);
			return LongStream.concat(actions, ends).reduce(this.now + 2 * FAR, this::earlier);
		}
		finally {
			this.guard.unlock();
		}
	}

	private long earlier(long a, long b) {
		return (a - this.now < b - this.now) ? a : b;
	}

	private void step(long due) {
		if (due - this.now > 0) {
			this.now = due;
		}
		expired().forEach(this::unpark);
		settle();
		this.schedules.forEach(Schedule::runDue);
		settle();
	}

	/** A thread that moves the time in order to wait looks at the time itself. */
	private List<Thread> expired() {
		this.guard.lock();
		try {
			return this.parked.entrySet()
				.stream()
				.filter((entry) -> entry.getValue().deadline() - this.now <= 0)
				.map(Map.Entry::getKey)
				.filter((thread) -> thread != Thread.currentThread())
				.toList();
		}
		finally {
			this.guard.unlock();
		}
	}

	private boolean isSettled() {
		return this.released.entrySet().stream().allMatch((entry) -> isAtRest(entry.getKey(), entry.getValue()))
				&& this.tasks.entrySet().stream().allMatch((entry) -> isSettled(entry.getKey(), entry.getValue()));
	}

	/** A task that has not begun may have to wait for others that its threads run. */
	private boolean isSettled(Task task, @Nullable Thread thread) {
		return (thread != null) ? isAtRest(thread)
				: this.tasks.entrySet()
					.stream()
					.anyMatch((other) -> other.getValue() != null && other.getKey().threads == task.threads);
	}

	private boolean isAtRest(Thread thread, boolean noticed) {
		return thread == Thread.currentThread() || (noticed && isAtRest(thread));
	}

	private boolean isAtRest(Thread thread) {
		return thread == Thread.currentThread() || switch (thread.getState()) {
			case TERMINATED -> true;
			// One that has just been woken has no blocker either
			case WAITING, TIMED_WAITING ->
				this.moving.hasQueuedThread(thread) || (!isAtReentrantLock(thread) && isWaiting(thread));
			default -> false;
		};
	}

	/**
	 * Who looks at a latch again and again, such as a StepVerifier, runs most of the
	 * time.
	 */
	private static boolean isAtLatch(Thread thread) {
		return Stream.of(thread.getStackTrace())
			.anyMatch((frame) -> frame.getClassName().equals(CountDownLatch.class.getName())
					&& frame.getMethodName().equals("await"));
	}

	private static boolean isWaiting(Thread thread) {
		Thread.State state = thread.getState();
		return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
	}

	/** Other threads hold the locks of the engine for a moment only. */
	private static boolean isAtReentrantLock(Thread thread) {
		Object blocker = LockSupport.getBlocker(thread);
		return blocker != null && blocker.getClass().getName().startsWith(ReentrantLock.class.getName() + "$");
	}

	/**
	 * A stretch in which time passes for a thread.
	 */
	@FunctionalInterface
	public interface Passing extends AutoCloseable {

		@Override
		void close();

	}

	/**
	 * Time passes for a thread, which counts the steps in which it does so.
	 */
	private static final class Stretch {

		private final Thread thread;

		private int steps;

		Stretch(Thread thread) {
			this.thread = thread;
		}

	}

	/**
	 * What a registry lets one of its threads do. Each is another one, whatever it does.
	 */
	private static final class Task {

		private final Executor threads;

		private final Runnable command;

		Task(Executor threads, Runnable command) {
			this.threads = threads;
			this.command = command;
		}

	}

	/**
	 * The wait of one thread.
	 */
	private record Parking(long deadline, Condition end) {
	}

}
