// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.WaitingLine;
import io.github.lockstarter.test.Callers.Call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The contract of every {@link LockStore}, seen from several JVMs that share one store,
 * each with its own. {@link AbstractCapableLockStoreTests} add what only some stores can
 * do.
 */
public abstract class AbstractLockStoreTests {

	/** So long that a lease ends only where a test ends it. */
	protected static final Duration LEASE_TIME = Duration.ofMinutes(10);

	static final Duration SHORTER_LEASE_TIME = Duration.ofMinutes(1);

	private static final Duration POLL_INTERVAL = Duration.ofMillis(5);

	/** For Redlock, a majority has to vote within a third of it. */
	private static final Duration SHORT_LEASE_TIME = Duration.ofSeconds(1);

	private static final String EXTEND = "A store that declares this needs AbstractCapableLockStoreTests";

	private static final int OWNERS = 4;

	private static final int LOCKS = 50;

	private static final AtomicLong lastKey = new AtomicLong();

	/** The name of the locks of this test. */
	private static volatile String name = "";

	/** Those of all tests of a class that shares them. */
	private static final List<Jvm> shared = new ArrayList<>();

	private final List<Jvm> jvms = new ArrayList<>();

	protected final LockKey key = firstKey();

	protected final OwnerToken owner = OwnerToken.random();

	protected final OwnerToken other = OwnerToken.random();

	final OwnerToken fair = OwnerToken.random(LockMode.FAIR);

	protected Jvm one;

	protected Jvm two;

	protected Jvm three;

	/**
	 * Return a store for a further JVM; all of them keep the same locks.
	 */
	protected abstract LockStore createStore();

	/**
	 * Return whether all tests of this class use the same JVMs, because their stores are
	 * slow to connect.
	 */
	protected boolean sharesJvms() {
		return false;
	}

	/**
	 * Let the lease of an owner end now, as if {@link #LEASE_TIME} had passed.
	 */
	protected abstract void expire(LockKey key, OwnerToken owner);

	/**
	 * Return whether a lease also ends by itself, and not only if a test moves a clock.
	 */
	protected boolean isOnRealClock() {
		return true;
	}

	/**
	 * Return whether a refusal contains the remaining time of the other owner's lease.
	 */
	protected boolean knowsTheRemainingTime() {
		return true;
	}

	/**
	 * Return whether messages about two locks arrive in the order in which they are sent.
	 */
	protected boolean areInOrder(LockKey one, LockKey other) {
		return true;
	}

	/**
	 * Return the answer to a release after the lock was already released.
	 */
	protected boolean repeatedRelease() {
		return false;
	}

	@BeforeEach
	void startJvms() {
		this.one = startJvm();
		this.two = startJvm();
		this.three = startJvm();
	}

	@AfterEach
	void stopJvms() throws Exception {
		if (!sharesJvms()) {
			stop(this.jvms);
		}
	}

	@AfterAll
	static void stopSharedJvms() throws Exception {
		stop(shared);
		shared.clear();
	}

	private static void stop(List<Jvm> jvms) throws Exception {
		for (Jvm jvm : jvms) {
			jvm.stop();
		}
	}

	protected final Jvm startJvm() {
		int number = this.jvms.size();
		boolean known = sharesJvms() && number < shared.size();
		Jvm jvm = known ? shared.get(number) : new Jvm(this::createStore, knowsTheRemainingTime());
		if (sharesJvms() && !known) {
			shared.add(jvm);
		}
		jvm.hearOf(this.key.name());
		this.jvms.add(jvm);
		return jvm;
	}

	@Test
	void aFreeLockIsGranted() {
		this.one.grant(this.key, this.owner);
	}

	@Test
	void aHeldLockIsRefusedWithTheRemainingTime() {
		this.one.grant(this.key, this.owner);
		this.two.mustNotGet(this.key, this.other, SHORTER_LEASE_TIME, LEASE_TIME);
	}

	@Test
	void aRefusalNamesAnInstanceThatHoldsTheLock() {
		for (LockMode mode : this.one.store().modes()) {
			OwnerToken holder = OwnerToken.random("orders@web-7f9c:1", mode);
			this.one.grant(this.key, holder);
			for (LockMode refused : this.two.store().modes()) {
				if (mode != LockMode.READ || refused != LockMode.READ) {
					String named = this.two.mustNotGet(this.key, OwnerToken.random(refused)).holder();
					assertThat(named).as("%s in the way of %s", mode, refused).isEqualTo("orders@web-7f9c:1");
				}
			}
			this.one.release(this.key, holder);
		}
	}

	@Test
	void aHeldLockIsRefusedToAnotherOwnerInTheSameJvm() {
		this.one.grant(this.key, this.owner);
		this.one.mustNotGet(this.key, this.other);
	}

	@Test
	void theSameOwnerGetsTheSameFencingBaseAgainAndAFullLease() {
		long base = this.one.grant(this.key, this.owner, SHORTER_LEASE_TIME);
		assertThat(this.one.grant(this.key, this.owner)).isEqualTo(base);
		this.two.mustNotGet(this.key, this.other, SHORTER_LEASE_TIME, LEASE_TIME);
	}

	@Test
	@Tag("clock")
	void aLeaseEndsByItselfAndNotBeforeItsTime() {
		assumeTrue(isOnRealClock(), "Leases end when a test moves the clock");
		AtomicLong start = new AtomicLong();
		// Servers that stand still do not grant a short lease in time
		await().ignoreExceptions().until(() -> {
			start.set(System.nanoTime());
			return this.one.client()
				.acquire(this.key, this.owner, SHORT_LEASE_TIME, false) instanceof AcquireResult.Grant;
		});
		await().until(() -> this.two.acquire(this.key, this.other) instanceof AcquireResult.Grant);
		// Stores count in milliseconds and may truncate fractions
		SafetyViolation.check(System.nanoTime() - start.get() >= SHORT_LEASE_TIME.minusMillis(2).toNanos(),
				"'%s' was granted to another owner before the end of the lease", this.key);
	}

	@Test
	void anotherOwnerGetsTheLockWhenTheLeaseHasEnded() {
		long base = this.one.grant(this.key, this.owner);
		expire(this.key, this.owner);
		assertGrowing(base, this.two.grant(this.key, this.other));
		this.one.mustNotGet(this.key, this.owner);
	}

	@Test
	void theOwnerExtendsItsLease() {
		this.one.grant(this.key, this.owner, SHORTER_LEASE_TIME);
		this.one.renew(this.key, this.owner);
		this.two.mustNotGet(this.key, this.other, SHORTER_LEASE_TIME, LEASE_TIME);
	}

	@Test
	void anOwnerCanAskForItsLockWithoutALongerLease() {
		this.one.grant(this.key, this.owner, SHORTER_LEASE_TIME);
		this.one.mustHold(this.key, this.owner);
		this.two.mustNotGet(this.key, this.other, Duration.ZERO, SHORTER_LEASE_TIME);
	}

	@Test
	void nobodyElseExtendsALease() {
		this.one.grant(this.key, this.owner, SHORTER_LEASE_TIME);
		this.two.mustNotHold(this.key, this.other);
		this.two.mustNotGet(this.key, this.other, Duration.ZERO, SHORTER_LEASE_TIME);
	}

	@Test
	void aFreeLockCannotBeExtended() {
		this.one.mustNotHold(this.key, this.owner);
		this.two.grant(this.key, this.other);
	}

	@Test
	void aLeaseThatEndedCannotBeExtended() {
		this.one.grant(this.key, this.owner);
		expire(this.key, this.owner);
		this.two.grant(this.key, this.other);
		this.one.mustNotHold(this.key, this.owner);
		this.two.release(this.key, this.other);
		this.one.mustNotHold(this.key, this.owner);
	}

	@Test
	void aReleasedLockIsGrantedToTheNext() {
		this.one.grant(this.key, this.owner);
		assertThat(this.one.release(this.key, this.owner)).isTrue();
		this.two.grant(this.key, this.other);
	}

	@Test
	void nobodyElseReleasesALock() {
		this.one.grant(this.key, this.owner);
		assertThat(this.two.release(this.key, this.other)).isFalse();
		this.one.mustHold(this.key, this.owner);
	}

	@Test
	void aLateReleaseFreesNobody() {
		this.one.grant(this.key, this.owner);
		expire(this.key, this.owner);
		this.two.grant(this.key, this.other);
		this.three.queue(this.key);
		assertThat(this.one.release(this.key, this.owner)).isFalse();
		this.two.mustHold(this.key, this.other);
		assertHeardNothing(this.three);
	}

	@Test
	void aRepeatedReleaseChangesNothing() {
		this.one.grant(this.key, this.owner);
		this.one.release(this.key, this.owner);
		assertThat(this.one.release(this.key, this.owner)).isEqualTo(repeatedRelease());
		this.two.grant(this.key, this.other);
		assertThat(this.one.release(this.key, this.owner)).isEqualTo(repeatedRelease());
		this.two.mustHold(this.key, this.other);
	}

	@Test
	void theFencingBaseGrowsOverReleases() {
		List<Long> bases = new ArrayList<>();
		for (Jvm jvm : List.of(this.one, this.two, this.two, this.one, this.three, this.one)) {
			OwnerToken next = OwnerToken.random();
			bases.add(jvm.grant(this.key, next));
			jvm.release(this.key, next);
		}
		assertGrowing(bases.toArray(Long[]::new));
		assertThat(bases).allMatch((base) -> base > 0 && base < 1L << 51);
	}

	@Test
	void aGrantTakesTheJvmOutOfTheQueue() {
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key, this.other);
		expire(this.key, this.owner);
		this.two.grant(this.key, this.other);
		assertNobodyWaits();
		assertThat(this.one.release(this.key, this.other)).isTrue();
		this.three.grant(this.key, this.owner);
	}

	@Test
	void aReleasePutsNobodyInLine() {
		this.one.grant(this.key, this.owner);
		assertThat(this.one.release(this.key, this.owner)).isTrue();
		assertNobodyWaits();
		this.two.grant(this.key, this.other);
		assertThat(this.two.release(this.key, this.other)).isTrue();
		assertHeardNothing(this.one);
	}

	@Test
	void twoKeysAreTwoLocks() {
		LockKey another = unusedKey();
		this.one.grant(this.key, this.owner);
		this.two.grant(another, this.other);
		this.three.queue(another);
		assertThat(this.one.release(this.key, this.owner)).isTrue();
		assertHeardNothing(this.three);
		this.two.mustHold(another, this.other);
		assertThat(this.two.release(another, this.other)).isTrue();
		if (this.three.hasWaitingLine()) {
			assertThat(heardBy(this.three, another)).containsExactly(another);
		}
	}

	@Test
	void hostileKeysAreDifferentLocks() {
		String name = this.key.toString().replace(':', '.');
		List<LockKey> keys = List.of(LockKey.of(name), LockKey.of(name, "a"), LockKey.of(name, "A"),
				LockKey.of(name.toUpperCase(Locale.ROOT), "a"), LockKey.of(name, "a "), LockKey.of(name, "{a}"),
				LockKey.of(name, "%7Ba%7D"), LockKey.of(name, "a}"), LockKey.of(name, "a}:fence"),
				LockKey.of(name, "a:queue"), LockKey.of(name, ":"), LockKey.of(name, "a\nb"), LockKey.of(name, "a\\nb"),
				LockKey.of(name, "a\r\nDEL b"), LockKey.of(name, "a\0"), LockKey.of(name, " a"), LockKey.of(name, "ä"),
				LockKey.of(name, "e"), LockKey.of(name, "é"), LockKey.of(name, "a\u0308"), LockKey.of(name, "\u202Ea"),
				LockKey.of(name, "鍵🔒"), LockKey.of(name, "x".repeat(512)), LockKey.of(name, "x".repeat(511)),
				LockKey.of(name, "{".repeat(512)));
		assertThat(keys).allSatisfy((hostile) -> this.one.grant(hostile, OwnerToken.random()));
		assertThat(keys).allSatisfy((hostile) -> this.two.queue(hostile));
	}

	@Test
	void aStoreHasANameAndIsTestedForAllThatItDeclares() {
		LockStore store = this.one.store();
		assertThat(store.name()).isNotBlank();
		if (!(this instanceof AbstractCapableLockStoreTests)) {
			assertThat(store.modes()).as(EXTEND).doesNotContain(LockMode.READ, LockMode.FAIR);
			assertThat(store.waitingLine()).as(EXTEND).isSameAs(WaitingLine.NONE);
			assertThat(store.keeping()).as(EXTEND).isEmpty();
		}
	}

	@Test
	void oneOfManyConcurrentOwnersIsGranted() throws Exception {
		assertOneOwnerEach(Stream.generate(AbstractLockStoreTests::unusedKey).limit(LOCKS).toList());
	}

	@Test
	void oneOfManyConcurrentOwnersIsGrantedAnExpiredLock() throws Exception {
		List<LockKey> locks = Stream.generate(AbstractLockStoreTests::unusedKey).limit(LOCKS).toList();
		for (LockKey lock : locks) {
			this.one.grant(lock, this.owner);
			expire(lock, this.owner);
		}
		assertOneOwnerEach(locks);
	}

	@Test
	void anExpiredOwnerDoesNotRenewALockThatNobodyElseHolds() {
		this.one.grant(this.key, this.owner);
		expire(this.key, this.owner);
		this.one.mustNotHold(this.key, this.owner);
		this.two.grant(this.key, this.other);
	}

	@Test
	void anExpiredOwnerDoesNotReleaseALockThatNobodyElseHolds() {
		this.one.grant(this.key, this.owner);
		expire(this.key, this.owner);
		assertThat(this.one.release(this.key, this.owner)).isFalse();
		this.two.grant(this.key, this.other);
	}

	/**
	 * Let several owners ask for each lock at the same time.
	 */
	private void assertOneOwnerEach(List<LockKey> locks) throws Exception {
		Set<LockKey> granted = ConcurrentHashMap.newKeySet();
		Phaser rounds = new Phaser(OWNERS);
		List<Jvm> jvms = List.of(this.one, this.two, this.three);
		List<Call<Boolean>> owners = IntStream.range(0, OWNERS)
			.mapToObj((i) -> Callers.start(() -> race(jvms.get(i % jvms.size()), locks, rounds, granted)))
			.toList();
		for (Call<Boolean> each : owners) {
			each.get();
		}
		assertThat(granted).containsExactlyInAnyOrderElementsOf(locks);
	}

	private static boolean race(Jvm jvm, List<LockKey> locks, Phaser rounds, Set<LockKey> granted) {
		try {
			for (LockKey lock : locks) {
				// All owners continue in the same moment, because they do not park
				int before = rounds.arrive();
				while (rounds.getPhase() == before && !rounds.isTerminated()) {
					Thread.yield();
				}
				if (jvm.acquire(lock, OwnerToken.random()) instanceof AcquireResult.Grant) {
					SafetyViolation.check(granted.add(lock), "'%s' was granted to two owners at once", lock);
				}
			}
			return true;
		}
		finally {
			rounds.forceTermination();
		}
	}

	@Test
	void theStateOfALockNamesItsHolderAndItsWaiters() {
		LockInspection inspection = inspection();
		assertThat(state(inspection).holders()).isEmpty();
		assertThat(state(inspection).waiters()).isEmpty();
		long base = this.one.grant(this.key, OwnerToken.random("orders@web-7f9c:1", LockMode.EXCLUSIVE));
		this.two.queue(this.key);
		this.three.queue(this.key, this.three.store().modes().contains(LockMode.FAIR) ? this.fair : this.other);
		LockInspection.State state = state(inspection);
		assertThat(state.holders()).singleElement().satisfies((holder) -> {
			assertThat(holder.name()).isEqualTo("orders@web-7f9c:1");
			assertThat(holder.mode()).isEqualTo(LockMode.EXCLUSIVE);
			assertThat(holder.kept()).isFalse();
			if (knowsTheRemainingTime()) {
				assertThat(holder.remaining()).isPositive().matches((time) -> time.compareTo(LEASE_TIME) <= 0);
			}
		});
		assertThat(state.fencingToken()).isEqualTo(LockInspection.tokenOf(base));
		String instance = OwnerToken.instance(null);
		assertThat(state.waiters()).isEqualTo(this.three.hasWaitingLine() ? List.of(instance, instance) : List.of());
	}

	@Test
	void aLockIsFreedIfTheGrantWithThatTokenStillHasIt() {
		LockInspection inspection = inspection();
		long base = this.one.grant(this.key, this.owner);
		assertThat(free(inspection, base - 1)).isFalse();
		assertThat(free(inspection, base + 1)).isFalse();
		this.one.mustHold(this.key, this.owner);
		assertThat(free(inspection, base)).isTrue();
		assertThat(state(inspection).holders()).isEmpty();
		this.one.mustNotHold(this.key, this.owner);
		assertThat(this.two.grant(this.key, this.other)).isGreaterThan(base);
		assertThat(free(inspection, base)).isFalse();
		assertThat(this.one.release(this.key, this.owner)).isFalse();
		this.two.mustHold(this.key, this.other);
	}

	@Test
	void aFreedLockGoesToTheFirstInLine() {
		LockInspection inspection = inspection();
		long base = this.one.grant(this.key, this.owner);
		this.two.queue(this.key, this.other);
		assertThat(free(inspection, base)).isTrue();
		if (this.three.hasWaitingLine()) {
			this.three.mustWait(this.key, OwnerToken.random());
		}
		assertThat(this.two.grant(this.key, this.other)).isGreaterThan(base);
	}

	/** Any instance shows all locks. */
	LockInspection inspection() {
		LockInspection inspection = this.three.store().inspection().orElse(null);
		assumeTrue(inspection != null, "The store does not show its locks");
		return Objects.requireNonNull(inspection);
	}

	LockInspection.State state(LockInspection inspection) {
		return inspection.inspect(this.key).toCompletableFuture().join();
	}

	boolean free(LockInspection inspection, long fencingBase) {
		long lastToken = ((fencingBase + 1) << AcquireResult.Grant.HOLD_NUMBER_BITS) - 1;
		return inspection.free(this.key, lastToken).toCompletableFuture().join();
	}

	/**
	 * Check that each fencing base is larger than all before.
	 */
	static void assertGrowing(Long... bases) {
		for (int i = 1; i < bases.length; i++) {
			SafetyViolation.check(bases[i] > bases[i - 1], "A later grant has a fencing base that is not larger: %s",
					List.of(bases));
		}
	}

	final void assertNobodyWaits() {
		if (this.one.hasWaitingLine()) {
			assertThat(this.one.client().waiters(this.key)).isEmpty();
		}
	}

	protected final void assertHeardNothing(Jvm jvm) {
		if (jvm.hasWaitingLine()) {
			assertThat(heardBy(jvm)).isEmpty();
		}
	}

	/**
	 * Skip the test if the store does not notify waiting JVMs of a release.
	 */
	protected final void assumeWaitingLine() {
		this.one.assumeWaitingLine();
	}

	protected final List<LockKey> heardBy(Jvm jvm) {
		return heardBy(jvm, this.key);
	}

	/**
	 * Return the messages to a JVM so far. All messages about a lock arrive before a last
	 * one about another lock, which is sent the same way. A store that polls may repeat a
	 * message.
	 */
	protected final List<LockKey> heardBy(Jvm jvm, LockKey about) {
		assumeWaitingLine();
		LockKey last = unusedKey();
		while (!areInOrder(about, last)) {
			last = unusedKey();
		}
		Jvm sender = (jvm != this.one) ? this.one : this.two;
		OwnerToken holder = OwnerToken.random();
		sender.grant(last, holder);
		jvm.queue(last);
		sender.release(last, holder);
		LockKey awaited = last;
		await().until(() -> jvm.heard.remove(awaited));
		return List.copyOf(jvm.heard);
	}

	/**
	 * Wait for a condition, with a short poll interval, because each test waits several
	 * times.
	 */
	protected static ConditionFactory await() {
		return Awaitility.await().pollDelay(Duration.ZERO).pollInterval(POLL_INTERVAL);
	}

	private static LockKey firstKey() {
		name = "contract" + lastKey.incrementAndGet();
		return unusedKey();
	}

	protected static LockKey unusedKey() {
		return LockKey.of(name, lastKey.incrementAndGet());
	}

	/**
	 * A store and the messages about the locks of a test that have reached it. It
	 * connects when it is used first, because most tests need no three of them, and one
	 * that is skipped needs one.
	 */
	protected static final class Jvm {

		private final Supplier<LockStore> stores;

		private final boolean knowsTheRemainingTime;

		private final Queue<LockKey> heard = new ConcurrentLinkedQueue<>();

		private @Nullable StoreClient client;

		/** Their name. Guarded by the queue. */
		private String locks = "";

		private Jvm(Supplier<LockStore> stores, boolean knowsTheRemainingTime) {
			this.stores = stores;
			this.knowsTheRemainingTime = knowsTheRemainingTime;
		}

		public synchronized StoreClient client() {
			StoreClient client = this.client;
			if (client == null) {
				client = new StoreClient(this.stores.get());
				this.client = client;
				listen(client);
			}
			return client;
		}

		private void listen(StoreClient client) {
			WaitingLine.Listener listener = new WaitingLine.Listener() {

				@Override
				public void onRelease(LockKey key) {
					hear(key);
				}

				@Override
				public void onDoubt() {
				}

			};
			if (client.store().waitingLine() != WaitingLine.NONE) {
				await().until(() -> client.listen(listener));
			}
		}

		private void hear(LockKey key) {
			synchronized (this.heard) {
				if (key.name().equals(this.locks)) {
					this.heard.add(key);
				}
			}
		}

		/**
		 * Hear from now on of the locks of one test, and no longer of those of earlier
		 * ones.
		 */
		private void hearOf(String locks) {
			synchronized (this.heard) {
				this.locks = locks;
				this.heard.clear();
			}
		}

		synchronized void stop() throws Exception {
			if (this.client != null && this.client.store() instanceof AutoCloseable closeable) {
				closeable.close();
			}
		}

		Queue<LockKey> heard() {
			return this.heard;
		}

		boolean hasWaitingLine() {
			return store().waitingLine() != WaitingLine.NONE;
		}

		void assumeWaitingLine() {
			assumeTrue(hasWaitingLine(), "The store has no waiting line");
		}

		LockStore store() {
			return client().store();
		}

		/**
		 * Ask for a lock that another owner may have.
		 */
		AcquireResult acquire(LockKey key, OwnerToken owner) {
			return acquire(key, owner, LEASE_TIME, false);
		}

		AcquireResult acquire(LockKey key, OwnerToken owner, Duration leaseTime, boolean queue) {
			assumeTrue(store().modes().contains(owner.mode()), () -> "The store has no mode " + owner.mode());
			return client().acquire(key, owner, leaseTime, queue);
		}

		long grant(LockKey key, OwnerToken owner) {
			return grant(key, owner, LEASE_TIME);
		}

		long grant(LockKey key, OwnerToken owner, Duration leaseTime) {
			AcquireResult attempt = acquire(key, owner, leaseTime, false);
			assertThat(attempt).isInstanceOf(AcquireResult.Grant.class);
			return ((AcquireResult.Grant) attempt).fencingBase();
		}

		/**
		 * Wait for a lock that another owner has.
		 */
		void queue(LockKey key) {
			queue(key, OwnerToken.random());
		}

		void queue(LockKey key, OwnerToken owner) {
			refused(acquire(key, owner, LEASE_TIME, true), key, owner);
		}

		/**
		 * Check that a lock is refused, because another owner has it.
		 */
		AcquireResult.Refusal mustNotGet(LockKey key, OwnerToken owner) {
			return refused(acquire(key, owner), key, owner);
		}

		private static AcquireResult.Refusal refused(AcquireResult attempt, LockKey key, OwnerToken owner) {
			SafetyViolation.check(attempt instanceof AcquireResult.Refusal,
					"'%s' was granted to %s while another owner has it", key, owner);
			return (AcquireResult.Refusal) attempt;
		}

		/**
		 * Check that a lock is refused, because it is the turn of another waiter.
		 */
		void mustWait(LockKey key, OwnerToken owner) {
			assertThat(acquire(key, owner)).isInstanceOf(AcquireResult.Refusal.class);
		}

		/**
		 * Check that a lock is refused, because another owner has it, and for how long if
		 * the store knows that.
		 */
		void mustNotGet(LockKey key, OwnerToken owner, Duration atLeast, Duration atMost) {
			Duration remaining = mustNotGet(key, owner).remaining();
			if (this.knowsTheRemainingTime) {
				assertThat(remaining).isGreaterThan(atLeast).matches((time) -> time.compareTo(atMost) <= 0);
			}
		}

		/**
		 * Check that an owner has a lock, and extend its lease.
		 */
		void renew(LockKey key, OwnerToken owner) {
			assertThat(client().renew(key, owner, LEASE_TIME)).isTrue();
		}

		/**
		 * Check that an owner has a lock.
		 */
		void mustHold(LockKey key, OwnerToken owner) {
			assertThat(client().renew(key, owner, Duration.ZERO)).isTrue();
		}

		/**
		 * Check that an owner does not have a lock.
		 */
		void mustNotHold(LockKey key, OwnerToken owner) {
			mustNotHold(key, owner, Duration.ZERO);
			mustNotHold(key, owner, LEASE_TIME);
		}

		private void mustNotHold(LockKey key, OwnerToken owner, Duration leaseTime) {
			SafetyViolation.check(!client().renew(key, owner, leaseTime), "%s does not have '%s', but is confirmed",
					owner, key);
		}

		boolean release(LockKey key, OwnerToken owner) {
			return client().release(key, owner);
		}

		boolean keep(LockKey key, OwnerToken owner, Duration time) {
			assumeTrue(store().keeping().isPresent(), "The store keeps no locks");
			return client().keep(key, owner, time);
		}

		void arrive(LockKey key, OwnerToken owner) {
			assumeWaitingLine();
			client().arrive(key, owner);
		}

		void withdraw(LockKey key) {
			assumeWaitingLine();
			client().withdraw(key);
		}

		void withdraw(LockKey key, OwnerToken owner) {
			assumeWaitingLine();
			client().withdraw(key, owner);
		}

	}

}
