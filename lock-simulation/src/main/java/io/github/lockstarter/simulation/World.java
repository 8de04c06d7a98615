// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockException;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.engine.SimulationProbe;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.simulation.Simulation.Actor;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.OwnerToken;

/**
 * Some instances that want a few locks for a simulated time, and what goes wrong
 * meanwhile. All of it follows from a seed.
 */
final class World {

	private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

	private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);

	/** Of 50 ms, or 20 round trips, one of which in 50 takes up to 20 ms more. */
	private static final long LONGEST_SLICE = 500 * MILLISECOND;

	/** For requests without an answer, and slow ones. */
	private static final long NOTICE = 1500 * MILLISECOND;

	private static final int REQUESTS_PER_ACQUISITION = 6;

	private static final Duration POLL_INTERVAL = Duration.ofSeconds(1);

	private static final Duration OUTAGE_TIME = Duration.ofSeconds(2);

	private final Plan plan;

	private final Random random;

	private final Simulation simulation;

	private final Server server;

	private final List<LockKey> keys = new ArrayList<>();

	private final List<Instance> instances = new ArrayList<>();

	private final Map<LockKey, Checks> checks = new LinkedHashMap<>();

	private final @Nullable List<String> timeline;

	private final List<String> findings = new ArrayList<>();

	private boolean ending;

	/** How often the server has forgotten what it knew. */
	private int losses;

	private long quietSince;

	private long killedAt = Long.MIN_VALUE / 2;

	private int strikes;

	/** How many sets of locks are being acquired. */
	private int sets;

	private int acquisitions;

	private World(Plan plan, boolean verbose) {
		this.plan = plan;
		this.simulation = new Simulation(plan.seed());
		this.random = this.simulation.random();
		this.server = plan.scripts() ? Server.redis(this.simulation, this::granted)
				: Server.memory(this.simulation, this::granted);
		this.timeline = verbose ? new ArrayList<>() : null;
		for (int i = 1; i <= plan.keys(); i++) {
			LockKey key = LockKey.of("stock", i);
			this.keys.add(key);
			this.checks.put(key, new Checks(key));
		}
	}

	/**
	 * Run a world.
	 */
	static Result run(Plan plan) {
		return new World(plan, false).live();
	}

	/**
	 * Run a world, and tell what happened.
	 */
	static Result tell(Plan plan) {
		return new World(plan, true).live();
	}

	private Result live() {
		try (this.simulation) {
			for (int i = 1; i <= this.plan.instances(); i++) {
				start("orders-" + i);
			}
			for (int i = 0; i < this.plan.instances(); i++) {
				planFaults(i);
			}
			this.simulation.later(null, this.plan.duration().toNanos(), () -> this.ending = true);
			monitor();
			end();
		}
		catch (AssertionError ex) {
			found(String.valueOf(ex.getMessage()));
		}
		return new Result(this.plan, this.simulation.hash(), this.simulation.steps(), this.simulation.now(),
				this.acquisitions, this.strikes, List.copyOf(this.findings),
				(this.timeline != null) ? List.copyOf(this.timeline) : List.of());
	}

	private void end() {
		long patience = this.plan.duration().toNanos() + 300 * SECOND;
		this.simulation.run(() -> !this.findings.isEmpty() || this.simulation.now() > patience
				|| (this.ending && this.instances.stream().allMatch(Instance::isDone)));
		if (!this.findings.isEmpty()) {
			return;
		}
		if (this.simulation.now() > patience) {
			found("a caller never ends");
			return;
		}
		this.instances.forEach((each) -> each.network.cut(false));
		long settled = this.simulation.now() + 200 * SECOND;
		this.simulation.later(null, 200 * SECOND, () -> {
		});
		this.simulation.run(() -> this.simulation.now() >= settled);
		for (Instance each : this.instances) {
			int locks = SimulationProbe.activeLocks(each.registry);
			int actions = SimulationProbe.backgroundActions(each.registry);
			if (locks + actions > 0) {
				found(each + " still has " + locks + " locks and " + actions + " actions in the background");
			}
		}
		this.checks.values().forEach(Checks::end);
		boolean exactly = this.plan.scripts() || this.plan.faults().isNone();
		if (exactly && !this.server.leftovers().isEmpty()) {
			found("the server keeps for ever: " + this.server.leftovers());
		}
		long requests = this.instances.stream().mapToLong((each) -> each.network.requests()).sum();
		if (this.plan.faults().isNone() && requests > REQUESTS_PER_ACQUISITION * this.acquisitions + 100) {
			found(requests + " requests for " + this.acquisitions + " acquisitions");
		}
	}

	private void found(String finding) {
		this.findings.add(finding);
		tell(() -> "FOUND: " + finding);
	}

	private void tell(Supplier<String> line) {
		if (this.timeline != null) {
			this.timeline.add(String.format("%11.6f  %s", this.simulation.now() / 1e9, line.get()));
		}
	}

	private void start(String name) {
		Instance instance = new Instance(name);
		int index = this.instances
			.indexOf(this.instances.stream().filter((each) -> each.name.equals(name)).findFirst().orElse(null));
		if (index < 0) {
			this.instances.add(instance);
		}
		else {
			this.instances.set(index, instance);
		}
		for (int i = 1; i <= this.plan.callers(); i++) {
			instance.start(name + "/" + i, instance::call);
		}
	}

	/** What the store has granted must grow, whatever it has forgotten. */
	private void granted(LockKey key, OwnerToken owner, long base) {
		Checks checks = check(key);
		boolean reads = owner.mode() == LockMode.READ;
		// A reader that asks again may be told its own base, although others have joined
		long before = reads ? checks.lastExclusiveBase : checks.lastBase;
		if (base <= before && !owner.equals(checks.lastOwner)) {
			found("the store has granted " + key + " with " + base + " after " + before);
		}
		checks.lastOwner = owner;
		checks.lastBase = Math.max(checks.lastBase, base);
		if (!reads) {
			checks.lastExclusiveBase = base;
		}
	}

	private Checks check(LockKey key) {
		Checks checks = this.checks.get(key);
		if (checks == null) {
			throw new IllegalArgumentException(key.toString());
		}
		return checks;
	}

	private void planFaults(int index) {
		Faults faults = this.plan.faults();
		strike(faults.standstills(), () -> {
			long nanos = pause();
			tell(() -> this.instances.get(index) + " stands still for " + nanos / MILLISECOND + " ms");
			this.instances.get(index).time.standStill(nanos);
			this.instances.get(index).disturbedUntil = this.instances.get(index).time.stoppedUntil();
		});
		strike(faults.kills(), () -> {
			Instance victim = this.instances.get(index);
			tell(() -> victim + " is killed");
			victim.time.kill();
			this.killedAt = this.simulation.now();
			victim.network.cut(true);
			noticeGone(victim);
			this.checks.values().forEach((each) -> each.forget(victim));
			start(victim.name);
		});
		strike(faults.shutdowns(), () -> {
			Instance victim = this.instances.get(index);
			tell(() -> victim + " shuts down");
			if (!victim.leaving) {
				victim.leaving = true;
				victim.start(victim.name + "/main", () -> {
					victim.registry.close();
					tell(() -> victim + " has shut down");
					this.simulation.later(null, 0, () -> start(victim.name));
				});
			}
		});
		strike(faults.cuts(), () -> {
			Instance victim = this.instances.get(index);
			long nanos = pause();
			tell(() -> victim + " is cut off for " + nanos / MILLISECOND + " ms");
			victim.network.cut(true);
			this.simulation.later(null, nanos, () -> {
				if (!victim.time.isDead()) {
					tell(() -> victim + " is connected again");
					victim.network.cut(false);
					this.quietSince = this.simulation.now();
				}
			});
		});
		strike(faults.deafness(), () -> {
			Instance victim = this.instances.get(index);
			long nanos = pause();
			tell(() -> victim + " gets no messages for " + nanos / MILLISECOND + " ms");
			victim.network.deafen(true);
			this.simulation.later(null, nanos, () -> victim.network.deafen(false));
		});
		strike(faults.interrupts(), () -> {
			List<Actor> callers = this.instances.get(index).callers;
			if (!callers.isEmpty()) {
				Actor victim = callers.get(this.random.nextInt(callers.size()));
				tell(() -> victim + " is interrupted");
				victim.thread.interrupt();
			}
		});
		if (index == 0) {
			strike(faults.dataLosses(), () -> {
				tell(() -> "the server forgets all locks");
				this.server.forget();
				this.losses++;
			});
		}
	}

	/** At once if a process ends, and late if its host does. */
	private void noticeGone(Instance victim) {
		long delay = this.random.nextBoolean() ? 0 : this.random.nextInt(30) * SECOND;
		this.simulation.later(null, delay, () -> this.server.close(victim.network));
	}

	private void strike(int times, Runnable fault) {
		for (int i = 0; i < times; i++) {
			this.simulation.later(null, this.random.nextLong(this.plan.duration().toNanos()), () -> {
				if (!this.ending) {
					this.strikes++;
					this.quietSince = this.simulation.now();
					fault.run();
				}
			});
		}
	}

	/** From 10 ms to 60 s, short ones more often. */
	private long pause() {
		return (long) (10 * MILLISECOND * Math.pow(6000, Math.pow(this.random.nextDouble(), 3)));
	}

	/** Looks now and then for waiters that sleep although their lock is free. */
	private void monitor() {
		this.simulation.later(null, 50 * MILLISECOND, () -> {
			this.checks.values().forEach(Checks::lookForSleepers);
			this.checks.values().forEach(Checks::lookForUnknownOwners);
			this.checks.values().forEach(Checks::lookForUntoldOwners);
			this.checks.values().forEach(Checks::lookForOrphans);
			if (!this.ending) {
				monitor();
			}
		});
	}

	/**
	 * What is true of one lock, as its owners and waiters believe.
	 */
	private final class Checks {

		private final LockKey key;

		private final List<Holding> holdings = new ArrayList<>();

		private final Set<Waiting> waiting = new LinkedHashSet<>();

		private long largestToken;

		private long largestExclusiveToken;

		/**
		 * A message wakes at once, and without one the waiter asks after the poll
		 * interval.
		 */
		private final long longestSleep = World.this.plan.faults().isNone() ? 300 * MILLISECOND
				: (World.this.plan.faults().slowAnswers() == 0) ? 3 * SECOND : 10 * SECOND;

		private long freeSince = -1;

		private @Nullable OwnerToken lastOwner;

		private long lastBase;

		private long lastExclusiveBase;

		/** The newest ownership, and since when it is known. */
		private long base;

		private long baseSince;

		private long unknownSince = -1;

		private long orphanedSince = -1;

		/** A resource that refuses tokens which are smaller than one that it has seen. */
		private long seenToken;

		private long value;

		private long writes;

		private Checks(LockKey key) {
			this.key = key;
		}

		private Holding granted(Instance instance, Lease lease, int losses, long largestBefore, boolean nested) {
			boolean exclusive = lease.mode() != LockMode.READ;
			Holding holding = Holding.of(instance, lease, losses);
			World.this.simulation.note(lease.fencingToken());
			World.this.acquisitions++;
			if (losses == World.this.losses && lease.isHeld() && !nested) {
				for (Holding other : this.holdings) {
					if (other.losses == World.this.losses && (exclusive || other.exclusive) && other.lease.isHeld()) {
						found("two owners of " + this.key + ": " + other + " and " + holding);
					}
				}
			}
			// A grant from before a loss of data may be handed on after it
			if (!nested && World.this.losses == 0 && lease.fencingToken() <= largestBefore) {
				found("the token of " + holding + " is not larger than " + largestBefore);
			}
			this.largestToken = Math.max(this.largestToken, lease.fencingToken());
			if (exclusive) {
				this.largestExclusiveToken = Math.max(this.largestExclusiveToken, lease.fencingToken());
			}
			this.holdings.add(holding);
			return holding;
		}

		/** Other instances must not wait for a chain of hand-offs. */
		private void requireSlice(Holding holding) {
			long base = LockInspection.baseOf(holding.lease.fencingToken());
			long now = World.this.simulation.now();
			if (base != this.base) {
				this.base = base;
				this.baseSince = now;
			}
			else if (holding.exclusive && World.this.plan.faults().isNone() && now - this.baseSince > LONGEST_SLICE) {
				found(this.key + " is handed on for " + (now - this.baseSince) / MILLISECOND + " ms: " + holding);
			}
		}

		private void ended(Holding holding) {
			this.holdings.remove(holding);
		}

		private void forget(Instance instance) {
			this.holdings.removeIf((each) -> each.instance == instance);
			this.waiting.removeIf((each) -> each.instance == instance);
		}

		private void update(Holding holding, long nanos) {
			long token = holding.lease.fencingToken();
			if (!holding.exclusive || token < this.seenToken) {
				holding.instance.time.sleep(nanos);
				return;
			}
			this.seenToken = token;
			long before = this.value;
			holding.instance.time.sleep(nanos);
			if (token >= this.seenToken) {
				this.value = before + 1;
				this.writes++;
			}
		}

		private void end() {
			if (isTaken()) {
				found("the store still has an owner of " + this.key);
			}
			if (this.value != this.writes) {
				found("lost updates: " + this.writes + " writes have counted to " + this.value);
			}
		}

		/** An owner whose lease is over is told. */
		private void lookForUntoldOwners() {
			long now = World.this.simulation.now();
			for (Holding each : this.holdings) {
				if (each.lease.isHeld() || each.told[0] || each.instance.isDisturbed(now)) {
					each.overSince[0] = now;
				}
				else if (now - Math.max(each.overSince[0], World.this.quietSince) > NOTICE) {
					found(each + " is not told that its lease is over");
				}
			}
		}

		/** An owner that the store does not know learns of that by its next renewal. */
		private void lookForUnknownOwners() {
			long now = World.this.simulation.now();
			boolean believed = this.holdings.stream()
				.anyMatch((each) -> each.lease.isHeld() && !each.instance.isDisturbed(now));
			if (!believed || isTaken()) {
				this.unknownSince = -1;
			}
			else if (this.unknownSince < 0) {
				this.unknownSince = now;
			}
			else if (now - Math.max(this.unknownSince, World.this.quietSince) > World.this.plan.leaseTime().toNanos()
					/ 3 + 4 * SECOND) {
				found("the store does not know the owner of " + this.key + ": " + this.holdings);
			}
		}

		/**
		 * A lock of which nobody knows is given back, and does not wait for its expiry.
		 */
		private void lookForOrphans() {
			long now = World.this.simulation.now();
			if (!this.holdings.isEmpty() || World.this.sets > 0 || !isTaken()
					|| World.this.instances.stream().anyMatch((each) -> each.isDisturbed(now))) {
				this.orphanedSince = -1;
			}
			else if (this.orphanedSince < 0) {
				this.orphanedSince = now;
			}
			else if (now - Math.max(this.orphanedSince, World.this.quietSince) > 3 * NOTICE
					&& World.this.plan.faults().slowAnswers() == 0
					&& now - World.this.killedAt > World.this.plan.leaseTime().toNanos() + NOTICE) {
				found("nobody knows who has " + this.key);
			}
		}

		private boolean isTaken() {
			return World.this.server.isTaken(this.key);
		}

		private void lookForSleepers() {
			long now = World.this.simulation.now();
			boolean wanted = this.waiting.stream().anyMatch((each) -> each.canBeWoken(now));
			if (!wanted || !this.holdings.isEmpty() || isTaken()) {
				this.freeSince = -1;
			}
			else if (this.freeSince < 0) {
				this.freeSince = now;
			}
			else if (now - Math.max(this.freeSince, World.this.quietSince) > this.longestSleep) {
				found(this.key + " is free, and somebody sleeps: " + this.waiting);
			}
		}

	}

	/**
	 * @param losses how often the server had forgotten its locks before this one was
	 * requested
	 */
	private record Holding(Instance instance, String who, Lease lease, boolean exclusive, int losses, boolean[] told,
			long[] overSince) {

		private static Holding of(Instance instance, Lease lease, int losses) {
			Holding holding = new Holding(instance, instance.who(), lease, lease.mode() != LockMode.READ, losses,
					new boolean[1], new long[1]);
			lease.onLost((loss) -> holding.told[0] = true);
			return holding;
		}

		@Override
		public String toString() {
			return this.who + " (" + this.lease + ")";
		}

	}

	private record Waiting(Instance instance, String who, long until) {

		private boolean canBeWoken(long now) {
			return now < this.until && !this.instance.isDisturbed(now);
		}

		@Override
		public String toString() {
			return this.who;
		}

	}

	/**
	 * One JVM of the application.
	 */
	private final class Instance {

		private final String name;

		private final SimulatedTime time;

		private final Network network;

		private final DefaultLockRegistry registry;

		private final List<Actor> callers = new ArrayList<>();

		private long disturbedUntil = -1;

		private boolean leaving;

		private Instance(String name) {
			this.name = name;
			Simulation simulation = World.this.simulation;
			this.time = new SimulatedTime(simulation, name, World.this.random.nextInt(6001) - 3000);
			this.network = new Network(simulation, this.time, World.this.plan.faults());
			EngineSettings settings = new EngineSettings(Duration.ofSeconds(10), World.this.plan.leaseTime(), 3,
					POLL_INTERVAL, Duration.ofMillis(30), Duration.ofMillis(50), Duration.ofSeconds(20), OUTAGE_TIME)
				.withInstanceName(name);
			this.registry = new DefaultLockRegistry(World.this.server.connect(this.time, this.network), settings,
					LockListener.NO_OP, this.time);
		}

		private boolean isDisturbed(long now) {
			return now < this.disturbedUntil || this.network.isDisturbed() || this.time.isDead() || this.leaving;
		}

		private void start(String who, Runnable body) {
			Actor[] self = new Actor[1];
			self[0] = World.this.simulation.start(this.time, who, () -> {
				try {
					body.run();
				}
				finally {
					this.callers.remove(self[0]);
				}
			});
			this.callers.add(self[0]);
		}

		private boolean isDone() {
			return this.callers.isEmpty();
		}

		private void call() {
			while (!World.this.ending && !this.leaving) {
				Thread.interrupted();
				try {
					once();
				}
				catch (LockContendedException | LockUnavailableException | LockLostException
						| LockInterruptedException ex) {
					tell(() -> who() + ": " + ex.getMessage());
				}
				this.time.sleep(World.this.random.nextInt(20) * MILLISECOND / 2);
			}
		}

		private String who() {
			return Thread.currentThread().getName();
		}

		private void once() {
			int kind = World.this.random.nextInt(20);
			LockRequest request = request();
			if (kind == 0 && World.this.keys.size() > 1) {
				several();
			}
			else if (kind <= 3) {
				later(request);
			}
			else if (kind == 4) {
				Checks checks = World.this.check(request.key());
				alone(request, (lease) -> {
					Lease inner = this.registry.acquire(request);
					Holding holding = checks.granted(this, inner, World.this.losses, 0, true);
					close(checks, holding, inner);
				});
			}
			else {
				alone(request, (lease) -> {
				});
			}
		}

		private LockRequest request() {
			Random random = World.this.random;
			LockRequest request = LockRequest.of(World.this.keys.get(random.nextInt(World.this.keys.size())))
				.withMode(World.this.plan.modes().get(random.nextInt(World.this.plan.modes().size())))
				.withWaitTime(
						Duration.ofMillis((random.nextInt(4) == 0) ? random.nextInt(50) : random.nextInt(10_000)));
			if (random.nextInt(10) == 0) {
				return request.withLeaseTime(Duration.ofMillis(20 + random.nextInt(500)));
			}
			return request;
		}

		private void alone(LockRequest request, java.util.function.Consumer<Lease> body) {
			Checks checks = World.this.check(request.key());
			hold(checks, request, () -> this.registry.acquire(request), body);
		}

		private void hold(Checks checks, LockRequest request, Supplier<@Nullable Lease> acquisition,
				java.util.function.Consumer<Lease> body) {
			// Readers may share an older grant
			long largest = (request.mode() == LockMode.READ) ? checks.largestExclusiveToken : checks.largestToken;
			int losses = World.this.losses;
			long since = this.time.now();
			Duration wait = (request.waitTime() != null) ? request.waitTime() : Duration.ofSeconds(10);
			Waiting waiting = new Waiting(this, who(), World.this.simulation.now() + wait.toNanos());
			checks.waiting.add(waiting);
			tell(() -> who() + " asks for " + request);
			Lease lease;
			try {
				lease = acquisition.get();
			}
			catch (LockException ex) {
				requireTime(since, wait, ex);
				throw ex;
			}
			finally {
				checks.waiting.remove(waiting);
			}
			if (lease == null) {
				return;
			}
			if (!lease.isHeld() && this.disturbedUntil < 0 && request.leaseTime() == null
					&& World.this.losses == losses) {
				found(who() + " is given a lease that is over: " + lease);
			}
			Holding holding = checks.granted(this, lease, losses, largest, false);
			checks.requireSlice(holding);
			tell(() -> holding + " is granted");
			try {
				checks.update(holding, work());
				body.accept(lease);
			}
			finally {
				close(checks, holding, lease);
			}
		}

		/** Mostly short, and now and then longer than a lease. */
		private long work() {
			Random random = World.this.random;
			return (random.nextInt(12) > 0) ? random.nextInt(10) * MILLISECOND / 3
					: random.nextLong(Math.min(3 * World.this.plan.leaseTime().toNanos(), 4 * SECOND));
		}

		private void close(Checks checks, Holding holding, Lease lease) {
			checks.ended(holding);
			tell(() -> holding + " is closed");
			lease.close();
		}

		/** A wait ends at its time, unless this JVM stood still, or somebody is told. */
		private void requireTime(long since, Duration wait, LockException ex) {
			long waited = this.time.now() - since;
			if (ex instanceof LockContendedException && waited < wait.toNanos()) {
				found(who() + " was refused after " + waited / MILLISECOND + " ms instead of " + wait.toMillis());
			}
			if (this.disturbedUntil < 0 && waited > wait.toNanos() + 520 * MILLISECOND) {
				found(who() + " waited for " + waited / MILLISECOND + " ms instead of " + wait.toMillis() + ": "
						+ ex.getMessage());
			}
		}

		private void later(LockRequest request) {
			Checks checks = World.this.check(request.key());
			hold(checks, request, () -> {
				CompletableFuture<Lease> future = this.registry.acquireAsync(request);
				Thread current = Thread.currentThread();
				future.whenComplete((lease, ex) -> this.time.unpark(current));
				long patience = this.time.now() + World.this.random.nextLong(20 * SECOND);
				while (!future.isDone()) {
					if (patience - this.time.now() <= 0 && future.cancel(true)) {
						tell(() -> who() + " has cancelled");
						return null;
					}
					Thread.interrupted();
					this.time.parkUntil(this, patience);
				}
				try {
					return future.get();
				}
				catch (ExecutionException ex) {
					if (ex.getCause() instanceof LockException cause) {
						throw cause;
					}
					throw new IllegalStateException(ex);
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
			}, (lease) -> {
			});
		}

		private void several() {
			List<LockRequest> requests = World.this.keys.stream()
				.limit(2)
				.map((key) -> LockRequest.of(key).withWaitTime(Duration.ofSeconds(3)))
				.toList();
			int losses = World.this.losses;
			LeaseSet leases;
			World.this.sets++;
			try {
				leases = this.registry.acquireAll(requests);
			}
			finally {
				World.this.sets--;
			}
			List<Holding> holdings = new ArrayList<>();
			for (LockRequest each : requests) {
				holdings.add(World.this.check(each.key()).granted(this, leases.get(each.key()), losses, 0, false));
			}
			tell(() -> who() + " has " + holdings);
			this.time.sleep(World.this.random.nextInt(10) * MILLISECOND);
			for (int i = 0; i < requests.size(); i++) {
				World.this.check(requests.get(i).key()).ended(holdings.get(i));
			}
			leases.close();
		}

		@Override
		public String toString() {
			return this.name;
		}

	}

	/**
	 * What a world is made of.
	 *
	 * @param seed from which all else follows
	 * @param scripts whether the server runs the scripts of Redis
	 */
	record Plan(long seed, boolean scripts, int instances, int callers, int keys, List<LockMode> modes,
			Duration leaseTime, Duration duration, Faults faults) {

		static Plan of(long seed) {
			Random random = new Random(~seed * 0x9E3779B97F4A7C15L);
			List<List<LockMode>> modes = List.of(List.of(LockMode.EXCLUSIVE), List.of(LockMode.FAIR),
					List.of(LockMode.EXCLUSIVE, LockMode.READ), List.of(LockMode.READ, LockMode.READ, LockMode.WRITE),
					List.of(LockMode.values()));
			return new Plan(seed, false, 1 + random.nextInt(3), 1 + random.nextInt(4), 1 + random.nextInt(2),
					modes.get(random.nextInt(modes.size())),
					Duration.ofMillis(200 + random.nextInt(1 + random.nextInt(8000))), Duration.ofSeconds(20),
					Faults.draw(random));
		}

		Plan withScripts() {
			return new Plan(this.seed, true, this.instances, this.callers, this.keys, this.modes, this.leaseTime,
					this.duration, this.faults);
		}

	}

	/**
	 * What has become of a world.
	 *
	 * @param hash a number for all that happened
	 */
	record Result(Plan plan, long hash, long steps, long nanos, int acquisitions, int strikes, List<String> findings,
			List<String> timeline) {
	}

}
