// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.simulation;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.engine.Time;
import io.github.lockstarter.simulation.Simulation.Actor;

/**
 * The time of one instance in a {@link Simulation}: a clock that may run faster or slower
 * than those of others, and the threads and executors that wait for it. An instance can
 * stand still, as a JVM that collects garbage, while its clock goes on.
 */
final class SimulatedTime implements Time {

	/** Code that compares two times must cope with an overflow. */
	private static final long ORIGIN = Long.MAX_VALUE - Duration.ofSeconds(5).toNanos();

	private static final long FAR = Duration.ofDays(36_525).toNanos();

	private static final long MILLION = 1_000_000;

	private final Simulation simulation;

	private final String name;

	private final int drift;

	private final List<Actor> actors = new ArrayList<>();

	private final List<Schedule> schedules = new ArrayList<>();

	private final List<Pool> pools = new ArrayList<>();

	private final Deque<Simulation.Worker> idleWorkers = new ArrayDeque<>();

	private long stoppedUntil = -1;

	private boolean dead;

	/**
	 * Create the time of an instance.
	 * @param drift how many microseconds its clock gains in a second
	 */
	SimulatedTime(Simulation simulation, String name, int drift) {
		this.simulation = simulation;
		this.name = name;
		this.drift = drift;
		simulation.add(this);
	}

	Simulation simulation() {
		return this.simulation;
	}

	Deque<Simulation.Worker> idleWorkers() {
		return this.idleWorkers;
	}

	@Override
	public long now() {
		long elapsed = this.simulation.now();
		return ORIGIN + elapsed + elapsed / MILLION * this.drift;
	}

	/** When a time of this clock has certainly come, on the clock of the world. */
	private long worldTime(long time) {
		long left = time - now();
		return (left <= 0) ? this.simulation.now() : (left > FAR) ? Long.MAX_VALUE / 2
				: this.simulation.now() + left + left / MILLION * Math.max(0, -this.drift) * 2 + 1;
	}

	@Override
	public void parkUntil(Object blocker, long deadline) {
		Actor current = this.simulation.current();
		boolean permit = current.permit;
		current.permit = false;
		if (!permit) {
			current.parked = true;
			current.deadline = worldTime(deadline);
			try {
				this.simulation.yield(current);
			}
			finally {
				current.parked = false;
				current.permit = false;
			}
		}
	}

	/**
	 * Let the current thread do nothing for some time. An interrupt does not end that.
	 */
	void sleep(long nanos) {
		Actor current = this.simulation.current();
		remove(current);
		this.simulation.later(this, nanos, () -> add(current));
		this.simulation.yield(current);
	}

	@Override
	public void unpark(Thread thread) {
		Actor actor = this.simulation.find(thread);
		if (actor != null) {
			actor.permit = true;
		}
	}

	@Override
	public @Nullable Thread start(Schedule schedule) {
		this.schedules.add(schedule);
		return null;
	}

	@Override
	public Executor observe(Executor threads) {
		int size = (threads instanceof ThreadPoolExecutor pool) ? pool.getMaximumPoolSize() : Integer.MAX_VALUE;
		Pool pool = new Pool(size);
		this.pools.add(pool);
		return pool;
	}

	@Override
	public long random(long bound) {
		return this.simulation.random().nextLong(bound);
	}

	@Override
	public String randomId() {
		return String.format("%022x", this.simulation.random().nextLong());
	}

	void add(Actor actor) {
		this.actors.add(actor);
	}

	void remove(Actor actor) {
		this.actors.remove(actor);
	}

	/**
	 * Let nothing of this instance run for some time.
	 */
	void standStill(long nanos) {
		this.stoppedUntil = Math.max(this.stoppedUntil, this.simulation.now() + nanos);
	}

	long stoppedUntil() {
		return this.stoppedUntil;
	}

	/**
	 * Let nothing of this instance ever run again.
	 */
	void kill() {
		this.dead = true;
	}

	boolean isDead() {
		return this.dead;
	}

	/**
	 * Collect what may run now.
	 */
	void collect(List<Object> ready, long now) {
		if (this.dead || now < this.stoppedUntil) {
			return;
		}
		for (Actor each : this.actors) {
			if (each.isReady(now)) {
				ready.add(each);
			}
		}
		for (Pool each : this.pools) {
			if (each.isReady()) {
				ready.add(each);
			}
		}
		for (Schedule each : this.schedules) {
			if (!each.isClosed() && each.nextDue() - now() <= 0) {
				ready.add((Runnable) each::runDue);
			}
		}
	}

	/**
	 * Return when something of this instance may be ready next, on the clock of the
	 * world.
	 */
	long nextDue(long now) {
		long next = Long.MAX_VALUE / 2;
		if (this.dead) {
			return next;
		}
		if (now < this.stoppedUntil) {
			return this.stoppedUntil;
		}
		for (Actor each : this.actors) {
			next = Math.min(next, each.deadline);
		}
		for (Schedule each : this.schedules) {
			if (!each.isClosed()) {
				next = Math.min(next, worldTime(each.nextDue()));
			}
		}
		return next;
	}

	@Override
	public String toString() {
		return this.name;
	}

	/**
	 * The tasks of an executor, of which as many run at the same time as it has threads.
	 */
	final class Pool implements Executor {

		private final int size;

		private final Deque<Runnable> tasks = new ArrayDeque<>();

		private int busy;

		private Pool(int size) {
			this.size = size;
		}

		SimulatedTime instance() {
			return SimulatedTime.this;
		}

		@Override
		public void execute(Runnable task) {
			this.tasks.add(task);
		}

		private boolean isReady() {
			return this.busy < this.size && !this.tasks.isEmpty();
		}

		/**
		 * Take the next task.
		 */
		Runnable next() {
			Runnable task = this.tasks.remove();
			this.busy++;
			return () -> {
				try {
					task.run();
				}
				finally {
					this.busy--;
				}
			};
		}

	}

}
