// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import org.springframework.core.task.VirtualThreadTaskExecutor;

/**
 * The few threads of a registry, however many locks it holds: one that keeps time, some
 * that ask the store in the background, and one that calls listeners, so that a slow
 * store or listener delays nothing else. Asynchronous callers, whose work may block, have
 * a thread for as long as they need one: a virtual one where the JDK has them.
 */
final class EngineThreads implements AutoCloseable {

	private static final int STORE_THREADS = 4;

	private static final String TASK_THREADS = "lock-async-";

	private static final int VIRTUAL_THREADS_SINCE = 21;

	private final Timetable timetable = new Timetable(System::nanoTime);

	private final ThreadPoolExecutor store = pool("lock-store-", STORE_THREADS);

	private final ThreadPoolExecutor callbacks = pool("lock-callback-", 1);

	private final @Nullable ThreadPoolExecutor platformTasks;

	private final Executor tasks;

	EngineThreads() {
		if (Runtime.version().feature() >= VIRTUAL_THREADS_SINCE) {
			this.platformTasks = null;
			this.tasks = new VirtualThreadTaskExecutor(TASK_THREADS);
		}
		else {
			this.platformTasks = pool(TASK_THREADS, 0, Integer.MAX_VALUE, new SynchronousQueue<>());
			this.tasks = this.platformTasks;
		}
		this.timetable.start();
	}

	Timetable timetable() {
		return this.timetable;
	}

	ThreadPoolExecutor store() {
		return this.store;
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

	@Override
	public void close() {
		this.timetable.close();
		this.store.shutdown();
		this.callbacks.shutdown();
		if (this.platformTasks != null) {
			this.platformTasks.shutdown();
		}
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
