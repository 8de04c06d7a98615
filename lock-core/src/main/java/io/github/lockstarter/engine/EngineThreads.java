// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockstarter.store.LockStore;

/**
 * The few threads of a registry, independent of the number of locks: one keeps time, one
 * tells owners of their losses, one calls listeners, and some ask the store in the
 * background. A slow store or listener delays nothing else.
 * <ul>
 * <li>Renewals have threads of their own, so they never wait behind other requests: one
 * for each server of the store, at most {@value #MAX_STORE_THREADS}.</li>
 * <li>All other background requests (releases, withdrawals, questions whether another
 * instance waits) have {@value #THREADS_PER_SERVER} threads for each server, at most
 * {@value #MAX_STORE_THREADS}.</li>
 * <li>If the store does not know the servers of its locks, one thread looks them up.</li>
 * </ul>
 * Threads beyond the first two start when there is work, and end after some idle seconds.
 * At most one task waits for a thread for each renewal, release and withdrawal under way,
 * and each of these ends with its lease. An asynchronous waiter occupies no thread. Its
 * steps run on a virtual thread where the JDK has them, and otherwise on one of
 * {@value #MAX_TASK_THREADS} threads. Its requests to a store that blocks, and those of
 * callers with little time, have {@value #REQUESTS_PER_SERVER} threads for each server.
 * Bodies may wait for each other, so each of them has a thread of its own.
 */
final class EngineThreads implements AutoCloseable {

	private static final int THREADS_PER_SERVER = 4;

	private static final int REQUESTS_PER_SERVER = 8;

	private static final int MAX_TASK_THREADS = 20;

	private static final int MAX_RETURN_THREADS = 8;

	private static final int MAX_STORE_THREADS = 64;

	private static final String TASK_THREADS = "lock-async-";

	private static final String BODY_THREADS = "lock-body-";

	private static final String RETURN_THREADS = "lock-return-";

	private final Timetable timetable;

	/**
	 * Unlimited, because the lanes limit their threads and must never be short of them.
	 */
	private final ThreadPoolExecutor storePool = pool("lock-store-", 0, Integer.MAX_VALUE, new SynchronousQueue<>());

	private final ThreadPoolExecutor requestPool = pool("lock-request-", 0, Integer.MAX_VALUE,
			new SynchronousQueue<>());

	private final ThreadPoolExecutor renewalPool = pool("lock-renewal-", 0, Integer.MAX_VALUE,
			new SynchronousQueue<>());

	private final ThreadPoolExecutor lookups = pool("lock-lookup-", 1);

	private final ThreadPoolExecutor callbackPool = pool("lock-callback-", 1);

	private final ThreadPoolExecutor eventPool = pool("lock-event-", 1);

	private final Executor callbacks;

	private final Executor events;

	private final StoreLanes background;

	private final StoreLanes renewals;

	private final StoreLanes requests;

	private final List<ThreadPoolExecutor> platformThreads;

	private final Executor tasks;

	private final Executor bodies;

	private final Executor returns;

	/**
	 * Start the thread that keeps time; the other threads start when there is work.
	 * @param store the store to ask
	 */
	EngineThreads(LockStore store, Time time) {
		this.timetable = new Timetable(time);
		this.callbacks = time.observe(this.callbackPool);
		this.events = time.observe(this.eventPool);
		Servers servers = new Servers(store.servers(), this.timetable::now, time.observe(this.lookups));
		this.background = new StoreLanes(servers::of, time.observe(this.storePool), this.timetable, THREADS_PER_SERVER,
				MAX_STORE_THREADS);
		this.requests = new StoreLanes(servers::of, time.observe(this.requestPool), this.timetable, REQUESTS_PER_SERVER,
				MAX_STORE_THREADS);
		this.renewals = new StoreLanes(servers::of, time.observe(this.renewalPool), this.timetable, 1,
				MAX_STORE_THREADS);
		ThreadFactory virtual = VirtualThreads.factory(TASK_THREADS);
		if (virtual != null) {
			this.platformThreads = List.of();
			this.tasks = surviving(time.observe((task) -> virtual.newThread(task).start()));
			this.bodies = this.tasks;
			this.returns = this.tasks;
		}
		else {
			this.platformThreads = List.of(pool(TASK_THREADS, MAX_TASK_THREADS),
					pool(BODY_THREADS, 0, Integer.MAX_VALUE, new SynchronousQueue<>()),
					pool(RETURN_THREADS, MAX_RETURN_THREADS));
			this.tasks = surviving(time.observe(this.platformThreads.get(0)));
			this.bodies = surviving(time.observe(this.platformThreads.get(1)));
			this.returns = surviving(time.observe(this.platformThreads.get(2)));
		}
		this.timetable.start();
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
	 * Return the lanes for background requests other than renewals.
	 */
	StoreLanes background() {
		return this.background;
	}

	/**
	 * Return the lanes for the requests of waiters that must not block, if the store
	 * does.
	 */
	StoreLanes requests() {
		return this.requests;
	}

	/**
	 * Return the lanes for renewals only.
	 */
	StoreLanes renewals() {
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
	 * Return the executor that closes leases for callers that must not block.
	 * Asynchronous callers cannot use up its threads, so a body that waits for a lock
	 * does not delay the release of that lock.
	 */
	Executor returns() {
		return this.returns;
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
		this.lookups.shutdown();
		this.callbackPool.shutdown();
		this.eventPool.shutdown();
		this.platformThreads.forEach(ThreadPoolExecutor::shutdown);
	}

	private static ThreadPoolExecutor pool(String name, int size) {
		ThreadPoolExecutor pool = pool(name, size, size, new LinkedBlockingQueue<>());
		pool.allowCoreThreadTimeOut(true);
		return pool;
	}

	private static ThreadPoolExecutor pool(String name, int coreSize, int maxSize, BlockingQueue<Runnable> queue) {
		AtomicInteger number = new AtomicInteger();
		return new ThreadPoolExecutor(coreSize, maxSize, 10, TimeUnit.SECONDS, queue, (task) -> {
			// The thread outlives the current call, so it must not inherit its context
			Thread thread = new Thread(null, task, name + number.incrementAndGet(), 0, false);
			thread.setDaemon(true);
			return VirtualThreads.withClassLoader(thread);
		},
				// After close, the calling thread runs its tasks itself
				(task, executor) -> task.run());
	}

}
