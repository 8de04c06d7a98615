// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.simulation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/**
 * Runs threads one at a time, in an order and at times that follow from a seed. Threads
 * are real, but only the one that has the baton runs. It passes the baton on when it
 * waits, or ends. What runs next is drawn from all that is ready: threads, tasks of
 * executors, timed actions, and events such as the arrival of a message. Nothing waits
 * for the real clock: if nothing is ready, the time moves to what is due next.
 *
 * <p>
 * The idea is that of FoundationDB's simulator, with threads in place of futures. It
 * explores the orders in which threads pass the points where they wait, and not those
 * between two memory accesses, for which there are the model tests.
 */
final class Simulation implements AutoCloseable {

	private static final long FAR = Long.MAX_VALUE / 2;

	private final Random random;

	private final List<SimulatedTime> instances = new ArrayList<>();

	private final PriorityQueue<Event> events = new PriorityQueue<>(
			Comparator.comparingLong(Event::due).thenComparingLong(Event::number));

	private final Baton driver = new Baton(Thread.currentThread());

	private final List<Object> ready = new ArrayList<>();

	private final List<Actor> actors = new ArrayList<>();

	/** Whose thread has the baton; {@code null} if it is that of the driver. */
	private @Nullable Actor running;

	/** What the driver has to run. */
	private @Nullable Runnable work;

	private BooleanSupplier end = () -> true;

	private @Nullable Throwable failure;

	private long now;

	private long steps;

	private long hash;

	private long numbers;

	private boolean closing;

	Simulation(long seed) {
		// Neighbouring seeds of a Random begin alike
		this.random = new Random(seed * 0x9E3779B97F4A7C15L);
	}

	Random random() {
		return this.random;
	}

	/**
	 * Return the nanoseconds since the beginning, on the clock of the world.
	 */
	long now() {
		return this.now;
	}

	long steps() {
		return this.steps;
	}

	/**
	 * Return a number for all choices, their times and {@linkplain #note notes} so far.
	 */
	long hash() {
		return this.hash;
	}

	/**
	 * Make something that was observed a part of the hash.
	 */
	void note(long value) {
		this.hash = (this.hash ^ value) * 0x100000001B3L + (this.hash >>> 29);
	}

	void add(SimulatedTime instance) {
		this.instances.add(instance);
	}

	/**
	 * Start a thread of an instance.
	 */
	Actor start(SimulatedTime instance, String name, Runnable body) {
		Actor actor = new Actor(instance, name, body);
		this.actors.add(actor);
		instance.add(actor);
		actor.thread.start();
		return actor;
	}

	/**
	 * Do something after a delay, on the thread of the driver.
	 * @param instance the instance that does it: later if it stands still, and never if
	 * it is dead; {@code null} for the world around
	 */
	void later(@Nullable SimulatedTime instance, long delay, Runnable action) {
		this.events.add(new Event(this.now + Math.max(0, delay), this.numbers++, instance, action));
	}

	/**
	 * Run until a condition holds. It is looked at before each step.
	 * @throws AssertionError if a thread fails, or nothing will ever happen any more
	 */
	void run(BooleanSupplier until) {
		this.end = until;
		Actor next = choose();
		while (next != null || this.work != null) {
			Runnable work = this.work;
			this.work = null;
			if (work != null) {
				doWork(work);
				next = choose();
			}
			else {
				pass(next, this.driver);
				next = null;
				if (this.work == null) {
					break;
				}
			}
		}
		if (this.failure != null) {
			throw new AssertionError("A simulated thread failed: " + this.failure, this.failure);
		}
	}

	private void doWork(Runnable work) {
		try {
			work.run();
		}
		catch (Killed ex) {
			// The instance has ended by its own event
		}
		catch (RuntimeException | Error ex) {
			fail(ex);
		}
	}

	private void fail(Throwable ex) {
		if (this.failure == null) {
			this.failure = ex;
		}
	}

	/**
	 * Choose what runs next.
	 * @return a thread, or {@code null} if it is the turn of the driver
	 */
	private @Nullable Actor choose() {
		while (this.failure == null && !this.end.getAsBoolean()) {
			this.ready.clear();
			this.instances.forEach((each) -> each.collect(this.ready, this.now));
			Event first = firstEvent();
			if (first != null && first.due <= this.now) {
				this.ready.add(first);
			}
			if (!this.ready.isEmpty()) {
				return take();
			}
			long next = (first != null) ? first.due : FAR;
			for (SimulatedTime each : this.instances) {
				next = Math.min(next, each.nextDue(this.now));
			}
			if (next >= FAR) {
				fail(new AssertionError("Everybody sleeps for ever: " + this.actors));
			}
			this.now = Math.max(this.now, next);
		}
		return null;
	}

	/** The first event of an instance that does not stand still. */
	private @Nullable Event firstEvent() {
		Event first = this.events.peek();
		while (first != null && first.instance != null && (first.instance.isDead() || first.isEarly())) {
			this.events.remove();
			if (!first.instance.isDead()) {
				this.events.add(new Event(first.instance.stoppedUntil(), first.number, first.instance, first.action));
			}
			first = this.events.peek();
		}
		return first;
	}

	private @Nullable Actor take() {
		int choice = this.random.nextInt(this.ready.size());
		this.steps++;
		note(this.now + 31L * choice + 1009L * this.ready.size());
		if (this.random.nextInt(4) == 0) {
			// Nothing is done in no time
			this.now += this.random.nextInt(50_000);
		}
		Object chosen = this.ready.get(choice);
		if (chosen instanceof Actor actor) {
			return actor;
		}
		if (chosen instanceof SimulatedTime.Pool pool) {
			return worker(pool);
		}
		if (chosen instanceof Event event) {
			this.events.remove(event);
			this.work = event.action;
		}
		else {
			this.work = (Runnable) chosen;
		}
		return null;
	}

	private Actor worker(SimulatedTime.Pool pool) {
		SimulatedTime instance = pool.instance();
		Worker worker = instance.idleWorkers().poll();
		if (worker == null) {
			worker = new Worker(instance);
			this.actors.add(worker);
			worker.thread.start();
		}
		worker.task = pool.next();
		instance.add(worker);
		return worker;
	}

	/**
	 * Give the baton to a thread, and wait until somebody gives it back.
	 */
	private void pass(@Nullable Actor next, Baton own) {
		this.running = next;
		Baton to = (next != null) ? next.baton : this.driver;
		if (to != own) {
			to.give();
			own.await();
		}
	}

	/**
	 * Let others run until the current thread is chosen again.
	 */
	void yield(Actor actor) {
		if (actor.killed || this.closing) {
			throw new Killed();
		}
		pass(choose(), actor.baton);
		if (actor.killed) {
			throw new Killed();
		}
	}

	/**
	 * Return what the current thread is, if it is one of this simulation.
	 */
	Actor current() {
		Actor running = this.running;
		if (running == null || running.thread != Thread.currentThread()) {
			throw new IllegalStateException("Only a simulated thread may wait, but this is " + Thread.currentThread());
		}
		return running;
	}

	/**
	 * Return the thread of an instance that this is, or {@code null}.
	 */
	@Nullable Actor find(Thread thread) {
		for (Actor each : this.actors) {
			if (each.thread == thread) {
				return each;
			}
		}
		return null;
	}

	/**
	 * End all threads.
	 */
	@Override
	public void close() {
		this.closing = true;
		for (int i = 0; i < this.actors.size(); i++) {
			Actor each = this.actors.get(i);
			for (int attempt = 0; !each.ended && attempt < 100; attempt++) {
				each.killed = true;
				pass(each, this.driver);
			}
		}
	}

	/**
	 * A thread.
	 */
	static class Actor {

		final SimulatedTime instance;

		final Thread thread;

		final Baton baton;

		/** Whether it waits, until it is unparked, interrupted, or a time has come. */
		boolean parked;

		boolean permit;

		long deadline;

		boolean killed;

		boolean ended;

		private final @Nullable Runnable body;

		Actor(SimulatedTime instance, String name, @Nullable Runnable body) {
			this.instance = instance;
			this.body = body;
			this.thread = new Thread(null, this::live, name, 0, false);
			this.thread.setDaemon(true);
			this.baton = new Baton(this.thread);
		}

		void run() {
			if (this.body != null) {
				this.body.run();
			}
		}

		private void live() {
			this.baton.await();
			Simulation simulation = this.instance.simulation();
			try {
				if (!this.killed) {
					run();
				}
			}
			catch (Killed ex) {
				// As wanted
			}
			catch (Throwable ex) {
				simulation.fail(ex);
			}
			this.ended = true;
			this.instance.remove(this);
			Actor next = simulation.closing ? null : simulation.choose();
			simulation.running = next;
			((next != null) ? next.baton : simulation.driver).give();
		}

		boolean isReady(long now) {
			return !this.parked || this.permit || this.deadline <= now || this.thread.isInterrupted();
		}

		@Override
		public String toString() {
			return this.thread.getName() + (this.parked ? " (waits)" : "");
		}

	}

	/**
	 * A thread of an executor. It serves one instance only: code may remember threads.
	 */
	static final class Worker extends Actor {

		private @Nullable Runnable task;

		Worker(SimulatedTime instance) {
			super(instance, "worker of " + instance, null);
		}

		@Override
		void run() {
			while (true) {
				Runnable task = this.task;
				this.task = null;
				if (task != null) {
					task.run();
				}
				Thread.interrupted();
				this.instance.remove(this);
				this.instance.idleWorkers().add(this);
				this.instance.simulation().yield(this);
			}
		}

	}

	/**
	 * Who may run.
	 */
	private static final class Baton {

		private final Thread thread;

		private volatile boolean given;

		private Baton(Thread thread) {
			this.thread = thread;
		}

		private void give() {
			this.given = true;
			LockSupport.unpark(this.thread);
		}

		/** A thread that is interrupted meanwhile keeps its flag, for others to see. */
		private void await() {
			while (!this.given) {
				if (Thread.currentThread().isInterrupted()) {
					Thread.yield();
				}
				else {
					LockSupport.park(this);
				}
			}
			this.given = false;
		}

	}

	private record Event(long due, long number, @Nullable SimulatedTime instance, Runnable action) {

		private boolean isEarly() {
			return this.instance != null && this.instance.stoppedUntil() > this.due;
		}

	}

	/**
	 * Ends a thread whose instance was killed.
	 */
	static final class Killed extends Error {

		Killed() {
			super("killed", null, false, false);
		}

	}

}
