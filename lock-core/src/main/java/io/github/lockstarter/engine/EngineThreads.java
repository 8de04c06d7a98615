// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The few threads of a registry, independent of the number of locks: one keeps time, one
 * tells owners of their losses, one calls listeners, and some ask the store in the
 * background. A slow store or listener delays nothing else.
 * <ul>
 * <li>Renewals have {@value #MAX_RENEWAL_THREADS} threads of their own, so they never
 * wait behind other requests.</li>
 * <li>Leases are closed on {@value #MAX_STORE_THREADS} threads for callers that must not
 * block. If the store may block, the same threads make its other requests in the
 * background, such as withdrawals and further attempts to release.</li>
 * <li>The requests of waiters that must not block have as many other threads, so that
 * they cannot keep a thread from the release that they wait for.</li>
 * </ul>
 * Threads beyond the first two start when there is work, and end after some idle seconds.
 * At most one task waits for a thread for each renewal, release and withdrawal under way,
 * and each of these ends with its lease. An asynchronous waiter occupies no thread. Its
 * steps, and what depends on its future, run on one of {@value #MAX_TASK_THREADS}
 * threads. Bodies may wait for each other, so each of them has a thread of its own.
 */
final class EngineThreads implements AutoCloseable {

	private static final int MAX_RENEWAL_THREADS = 2;

	private static final int MAX_STORE_THREADS = 8;

	private static final int MAX_TASK_THREADS = 20;

	private static final long RETRY = TimeUnit.MILLISECONDS.toNanos(250);

	private final Timetable timetable;

	private final ThreadPoolExecutor storePool = pool("lock-store-", MAX_STORE_THREADS);

	private final ThreadPoolExecutor requestPool = pool("lock-request-", MAX_STORE_THREADS);

	private final ThreadPoolExecutor renewalPool = pool("lock-renewal-", MAX_RENEWAL_THREADS);

	private final ThreadPoolExecutor callbackPool = pool("lock-callback-", 1);

	private final ThreadPoolExecutor eventPool = pool("lock-event-", 1);

	private final ThreadPoolExecutor taskPool = pool("lock-async-", MAX_TASK_THREADS);

	private final ThreadPoolExecutor bodyPool = pool("lock-body-", 0, Integer.MAX_VALUE, new SynchronousQueue<>());

	private final Executor callbacks;

	private final Executor events;

	private final Executor store;

	private final Executor requests;

	private final Executor renewals;

	private final Executor tasks;

	private final Executor bodies;

	/**
	 * Start the thread that keeps time; the other threads start when there is work.
	 */
	EngineThreads(Time time) {
		this.timetable = new Timetable(time);
		this.callbacks = retrying(time.observe(this.callbackPool));
		this.events = retrying(time.observe(this.eventPool));
		this.store = retrying(time.observe(this.storePool));
		this.requests = retrying(time.observe(this.requestPool));
		this.renewals = retrying(time.observe(this.renewalPool));
		this.tasks = surviving(time.observe(this.taskPool));
		this.bodies = surviving(time.observe(this.bodyPool));
		this.timetable.start();
	}

	/**
	 * Return an executor that tries again soon if the machine has no thread left: the
	 * calling thread may be the one that keeps time, and must not wait for the store.
	 */
	private Executor retrying(Executor threads) {
		return (task) -> executeOrRetry(threads, task);
	}

	private void executeOrRetry(Executor threads, Runnable task) {
		try {
			threads.execute(task);
		}
		catch (OutOfMemoryError ex) {
			this.timetable.at(this.timetable.now() + RETRY, () -> executeOrRetry(threads, task));
		}
	}

	/**
	 * Return an executor that runs a task on the calling thread if the machine has no
	 * thread left: a step that is lost would leave its lock held.
	 */
	private static Executor surviving(Executor threads) {
		return (task) -> {
			try {
				threads.execute(task);
			}
			catch (OutOfMemoryError ex) {
				task.run();
			}
		};
	}

	Timetable timetable() {
		return this.timetable;
	}

	/**
	 * Return the executor for requests in the background other than renewals, if the
	 * store may block. No caller's code runs there.
	 */
	Executor store() {
		return this.store;
	}

	/**
	 * Return the executor for the requests of waiters that must not block, if the store
	 * does.
	 */
	Executor requests() {
		return this.requests;
	}

	/**
	 * Return the executor for renewals only.
	 */
	Executor renewals() {
		return this.renewals;
	}

	/**
	 * Return the executor for what owners want to do when they lose a lock.
	 */
	Executor callbacks() {
		return this.callbacks;
	}

	/**
	 * Return the executor for listeners and warnings, which may be slow and must not
	 * delay the callbacks of owners.
	 */
	Executor events() {
		return this.events;
	}

	/**
	 * Return the executor for the steps of asynchronous callers, which do not block.
	 */
	Executor tasks() {
		return this.tasks;
	}

	/**
	 * Return the executor for what asynchronous callers do with their leases, which may
	 * block.
	 */
	Executor bodies() {
		return this.bodies;
	}

	/**
	 * Release locks for a caller that must not block.
	 * @return done afterwards, on a thread that releases no locks: what depends on it may
	 * wait for one
	 */
	CompletableFuture<Void> release(Runnable release) {
		return CompletableFuture.runAsync(release, this.store).whenCompleteAsync((nothing, ex) -> {
		}, this.tasks);
	}

	boolean areEnded() {
		return this.callbackPool.isShutdown();
	}

	@Override
	public void close() {
		this.timetable.close();
		this.storePool.shutdown();
		this.requestPool.shutdown();
		this.renewalPool.shutdown();
		this.callbackPool.shutdown();
		this.eventPool.shutdown();
		this.taskPool.shutdown();
		this.bodyPool.shutdown();
	}

	private static ThreadPoolExecutor pool(String name, int size) {
		ThreadPoolExecutor pool = pool(name, size, size, new LinkedBlockingQueue<>());
		pool.allowCoreThreadTimeOut(true);
		return pool;
	}

	private static ThreadPoolExecutor pool(String name, int coreSize, int maxSize, BlockingQueue<Runnable> queue) {
		AtomicInteger number = new AtomicInteger();
		return new ThreadPoolExecutor(coreSize, maxSize, 10, TimeUnit.SECONDS, queue,
				(task) -> SystemTime.newThread(task, name + number.incrementAndGet()),
				// After close, the calling thread runs its tasks itself
				(task, executor) -> task.run());
	}

}
