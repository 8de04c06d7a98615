// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;

/**
 * Runs tasks that ask the store in the background, with a lane for each server, so that a
 * server that does not answer delays no task for another. The number of threads is
 * limited for each lane and for all lanes together; at the limit the lanes take turns.
 */
final class StoreLanes {

	private static final Log logger = LogFactory.getLog(StoreLanes.class);

	private static final long RETRY = TimeUnit.MILLISECONDS.toNanos(250);

	private final Function<LockKey, Object> serverOf;

	private final Executor threads;

	private final Timetable timetable;

	private final int threadsOfLane;

	private final int threadsOfAll;

	private final Map<Object, Lane> lanes = new HashMap<>();

	/** Lanes whose tasks wait for a thread. */
	private final Set<Lane> waiting = new LinkedHashSet<>();

	private int busy;

	/**
	 * Create an empty set of lanes.
	 * @param serverOf returns the server of a lock
	 * @param threads runs the tasks; must never be short of threads
	 * @param timetable runs the next attempt if the machine is short of threads
	 * @param threadsOfLane maximum number of threads of one lane
	 * @param threadsOfAll maximum number of threads of all lanes together
	 */
	StoreLanes(Function<LockKey, Object> serverOf, Executor threads, Timetable timetable, int threadsOfLane,
			int threadsOfAll) {
		this.serverOf = serverOf;
		this.threads = threads;
		this.timetable = timetable;
		this.threadsOfLane = threadsOfLane;
		this.threadsOfAll = threadsOfAll;
	}

	/**
	 * Return an object that stands for the server of a lock.
	 */
	Object serverOf(LockKey key) {
		return this.serverOf.apply(key);
	}

	/**
	 * Run a task that asks the store about a lock.
	 */
	void execute(LockKey key, Runnable task) {
		execute(serverOf(key), task);
	}

	/**
	 * Run a task that asks a server.
	 */
	void execute(Object server, Runnable task) {
		Lane lane = enter(server, task);
		if (lane != null) {
			start(lane);
		}
	}

	/**
	 * Start a thread for a lane. If the machine has no thread left, the tasks wait for
	 * the next attempt.
	 */
	private void start(Lane lane) {
		try {
			this.threads.execute(() -> work(lane));
		}
		catch (RuntimeException | Error ex) {
			logger.error("No thread could be started to ask the store; trying again soon", ex);
			postpone(lane);
			this.timetable.at(this.timetable.now() + RETRY, this::startWaiting);
		}
	}

	private void startWaiting() {
		Lane lane = enterWaiting();
		if (lane != null) {
			start(lane);
		}
	}

	private synchronized void postpone(Lane lane) {
		lane.busy--;
		this.busy--;
		this.waiting.add(lane);
	}

	private synchronized @Nullable Lane enterWaiting() {
		Lane lane = (this.busy < this.threadsOfAll) ? nextWaiting() : null;
		if (lane != null) {
			begin(lane);
		}
		return lane;
	}

	/**
	 * Add a task to its lane.
	 * @return the lane if it needs one more thread and may start it, or {@code null}
	 */
	private synchronized @Nullable Lane enter(Object server, Runnable task) {
		Lane lane = this.lanes.computeIfAbsent(server, Lane::new);
		lane.tasks.add(task);
		if (lane.busy == this.threadsOfLane) {
			return null;
		}
		if (this.busy == this.threadsOfAll) {
			this.waiting.add(lane);
			return null;
		}
		begin(lane);
		return lane;
	}

	private void work(Lane first) {
		Lane lane = first;
		while (lane != null) {
			run(take(lane));
			lane = next(lane);
		}
	}

	private synchronized @Nullable Runnable take(Lane lane) {
		return lane.tasks.poll();
	}

	/**
	 * Return the lane in which a thread continues, or {@code null} if there is no task
	 * left.
	 */
	private synchronized @Nullable Lane next(Lane lane) {
		end(lane);
		Lane next = nextWaiting();
		if (!lane.tasks.isEmpty()) {
			if (next == null) {
				next = lane;
			}
			else {
				this.waiting.add(lane);
			}
		}
		if (next != null) {
			begin(next);
		}
		return next;
	}

	private @Nullable Lane nextWaiting() {
		for (Iterator<Lane> lanes = this.waiting.iterator(); lanes.hasNext();) {
			Lane lane = lanes.next();
			lanes.remove();
			if (!lane.tasks.isEmpty() && lane.busy < this.threadsOfLane) {
				return lane;
			}
		}
		return null;
	}

	private void begin(Lane lane) {
		lane.busy++;
		this.busy++;
	}

	private void end(Lane lane) {
		lane.busy--;
		this.busy--;
		if (lane.busy == 0 && lane.tasks.isEmpty()) {
			this.lanes.remove(lane.server, lane);
		}
	}

	private static void run(@Nullable Runnable task) {
		try {
			if (task != null) {
				task.run();
			}
		}
		catch (RuntimeException | Error ex) {
			logger.error("A task in the background failed", ex);
		}
	}

	/**
	 * The tasks for one server.
	 */
	private static final class Lane {

		private final Object server;

		private final Queue<Runnable> tasks = new ArrayDeque<>();

		private int busy;

		Lane(Object server) {
			this.server = server;
		}

	}

}
