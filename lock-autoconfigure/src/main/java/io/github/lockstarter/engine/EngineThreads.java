// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The few threads of a registry, however many locks it holds: one that keeps time, some
 * that ask the store in the background, and one that calls listeners, so that a slow
 * store or listener delays nothing else.
 */
final class EngineThreads implements AutoCloseable {

	private static final int STORE_THREADS = 4;

	private final Timetable timetable = new Timetable(System::nanoTime);

	private final ThreadPoolExecutor store = pool("lock-store", STORE_THREADS);

	private final ThreadPoolExecutor callbacks = pool("lock-callback", 1);

	EngineThreads() {
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

	@Override
	public void close() {
		this.timetable.close();
		this.store.shutdown();
		this.callbacks.shutdown();
	}

	private static ThreadPoolExecutor pool(String name, int size) {
		AtomicInteger number = new AtomicInteger();
		ThreadPoolExecutor pool = new ThreadPoolExecutor(size, size, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
				(task) -> {
					Thread thread = new Thread(task, name + "-" + number.incrementAndGet());
					thread.setDaemon(true);
					return thread;
				},
				// After close, what has to be done is done by who asks for it
				(task, executor) -> task.run());
		pool.allowCoreThreadTimeOut(true);
		return pool;
	}

}
