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
 * The few threads of a registry, however many locks it holds: one that keeps time, one
 * that calls listeners, and some that ask the store in the background, so that a slow
 * store or listener delays nothing else.
 * <ul>
 * <li>Renewals have threads of their own and wait behind nothing else: one for each
 * server of the store, {@value #MAX_STORE_THREADS} at most.</li>
 * <li>All else in the background (locks to release, places to give up, questions whether
 * another instance waits) has {@value #THREADS_PER_SERVER} threads for each server,
 * {@value #MAX_STORE_THREADS} at most.</li>
 * <li>One thread looks up which server is responsible for which lock, if the store does
 * not know.</li>
 * </ul>
 * Threads beyond the first two are started when there is work, and end after some seconds
 * without. What waits for one is at most one task for each renewal, lock to release and
 * place to give up that is under way; each of these ends with its lease. An asynchronous
 * caller has no thread while it waits. What it does with its lease runs on a virtual
 * thread where the JDK has them, and else on one of {@value #MAX_TASK_THREADS}; its
 * requests to a store that blocks have {@value #REQUESTS_PER_SERVER} threads for each
 * server.
 */
final class EngineThreads implements AutoCloseable {

	private static final int THREADS_PER_SERVER = 4;

	private static final int REQUESTS_PER_SERVER = 8;

	private static final int MAX_TASK_THREADS = 20;

	private static final int MAX_RETURN_THREADS = 8;

	private static final int MAX_STORE_THREADS = 64;

	private static final String TASK_THREADS = "lock-async-";

	private static final String RETURN_THREADS = "lock-return-";

	private final Timetable timetable = new Timetable(System::nanoTime);

	/** Limited by the lanes, as a pool could not be without being short of threads. */
	private final ThreadPoolExecutor storePool = pool("lock-store-", 0, Integer.MAX_VALUE, new SynchronousQueue<>());

	private final ThreadPoolExecutor requestPool = pool("lock-request-", 0, Integer.MAX_VALUE,
			new SynchronousQueue<>());

	private final ThreadPoolExecutor renewalPool = pool("lock-renewal-", 0, Integer.MAX_VALUE,
			new SynchronousQueue<>());

	private final ThreadPoolExecutor lookups = pool("lock-lookup-", 1);

	private final ThreadPoolExecutor callbacks = pool("lock-callback-", 1);

	private final StoreLanes background;

	private final StoreLanes renewals;

	private final StoreLanes requests;

	private final List<ThreadPoolExecutor> platformThreads;

	private final Executor tasks;

	private final Executor returns;

	/**
	 * Start the thread that keeps time; the others are started when there is work.
	 * @param store the store that they ask
	 */
	EngineThreads(LockStore store) {
		Servers servers = new Servers(store.servers(), this.timetable::now, this.lookups);
		this.background = new StoreLanes(servers::of, this.storePool, THREADS_PER_SERVER, MAX_STORE_THREADS);
		this.requests = new StoreLanes(servers::of, this.requestPool, REQUESTS_PER_SERVER, MAX_STORE_THREADS);
		this.renewals = new StoreLanes(servers::of, this.renewalPool, 1, MAX_STORE_THREADS);
		ThreadFactory virtual = VirtualThreads.factory(TASK_THREADS);
		if (virtual != null) {
			this.platformThreads = List.of();
			this.tasks = (task) -> virtual.newThread(task).start();
			this.returns = this.tasks;
		}
		else {
			this.platformThreads = List.of(pool(TASK_THREADS, MAX_TASK_THREADS),
					pool(RETURN_THREADS, MAX_RETURN_THREADS));
			this.tasks = this.platformThreads.get(0);
			this.returns = this.platformThreads.get(1);
		}
		this.timetable.start();
	}

	Timetable timetable() {
		return this.timetable;
	}

	/**
	 * Return what asks the store in the background, but for renewals.
	 */
	StoreLanes background() {
		return this.background;
	}

	/**
	 * Return what asks for the locks of waiters without a thread, if the store blocks.
	 */
	StoreLanes requests() {
		return this.requests;
	}

	/**
	 * Return what sends renewals, and nothing else.
	 */
	StoreLanes renewals() {
		return this.renewals;
	}

	ThreadPoolExecutor callbacks() {
		return this.callbacks;
	}

	/**
	 * Return what runs the steps of asynchronous callers, which may block.
	 */
	Executor tasks() {
		return this.tasks;
	}

	/**
	 * Return what closes leases for callers that must not block. What asynchronous
	 * callers do cannot use up its threads, so a body that waits for a lock does not keep
	 * the lock from being released.
	 */
	Executor returns() {
		return this.returns;
	}

	@Override
	public void close() {
		this.timetable.close();
		this.storePool.shutdown();
		this.requestPool.shutdown();
		this.renewalPool.shutdown();
		this.lookups.shutdown();
		this.callbacks.shutdown();
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
			Thread thread = new Thread(task, name + number.incrementAndGet());
			thread.setDaemon(true);
			return thread;
		},
				// After close, what has to be done is done by who asks for it
				(task, executor) -> task.run());
	}

}
