// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults;

import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.faults.checks.Linearizability;
import io.github.lockstarter.faults.checks.LockModel;
import io.github.lockstarter.faults.checks.Overlaps;
import io.github.lockstarter.faults.checks.Refusals;
import io.github.lockstarter.faults.checks.TokenOrder;
import io.github.lockstarter.faults.checks.Violation;
import io.github.lockstarter.faults.checks.WaitBudget;
import io.github.lockstarter.faults.history.Attempt;
import io.github.lockstarter.faults.history.History;
import io.github.lockstarter.faults.history.Step;
import io.github.lockstarter.faults.nemesis.Attack;
import io.github.lockstarter.faults.nemesis.Crew;
import io.github.lockstarter.faults.nemesis.Exclusion;
import io.github.lockstarter.faults.nemesis.Fault;
import io.github.lockstarter.faults.nemesis.Site;
import io.github.lockstarter.faults.nemesis.WorkerFault;
import io.github.lockstarter.faults.worker.Competitor;
import io.github.lockstarter.faults.worker.Counters;
import io.github.lockstarter.faults.worker.Ledger;
import io.github.lockstarter.faults.worker.Ledger.Balance;
import io.github.lockstarter.faults.worker.Mode;
import io.github.lockstarter.testsupport.Heartbeat;

/**
 * One episode: workers work, a fault strikes and is repaired, and when all workers work
 * again, everything is checked.
 */
final class Episode {

	private static final Duration CALM = Duration.ofMillis(400);

	/** To acquire, to release, and to wait in some attempts. */
	private static final int MOST_SCRIPTS = 3;

	/** Of waiters that get no messages, however slow the machine is. */
	private static final Duration POLL_INTERVAL = EngineSettings.DEFAULTS.pollIntervalWithoutMessages();

	/** Leases survive a gap of this part of their length, and renewals within it. */
	private static final int LONGEST_GAPS_PER_LEASE = 4;

	private static final Duration LONGEST_RECOVERY = Duration.ofSeconds(20);

	private final String name;

	private final Fault fault;

	private final String store;

	private final Site site;

	private final Crew crew;

	private final Counters counters;

	private final Ledger ledger;

	private final Random random;

	private final List<String> keys;

	Episode(int number, Fault fault, String store, Site site, Crew crew, Counters counters, Ledger ledger,
			Random random) {
		this.name = "e" + number;
		this.fault = fault;
		this.store = store;
		this.site = site;
		this.crew = crew;
		this.counters = counters;
		this.ledger = ledger;
		this.random = random;
		this.keys = List.of(this.name + "-a", this.name + "-b");
	}

	EpisodeResult run() throws Exception {
		try (Heartbeat heartbeat = Heartbeat.start()) {
			return run(heartbeat);
		}
	}

	private EpisodeResult run(Heartbeat heartbeat) throws Exception {
		for (String key : this.keys) {
			this.counters.create(key);
			this.ledger.create(key);
		}
		long scripts = this.site.scripts();
		this.crew.begin(this.name, this.fault.mode(), this.keys);
		awaitGrants(System.nanoTime());
		Thread.sleep(CALM.toMillis());
		this.fault.strike(new Attack(this.site, this.crew,
				this.keys.stream().map(this.crew.competitor()::redisKey).toList(), this.random));
		Duration recovery = awaitGrants(System.nanoTime());
		this.site.settle();
		Thread.sleep(CALM.toMillis());
		int residue = this.crew.rest();
		List<String> leftKeys = awaitNoKeys();
		boolean stoodStill = heartbeat.longestGap(System.nanoTime())
			.compareTo(this.crew.leaseTime().dividedBy(LONGEST_GAPS_PER_LEASE)) > 0;
		return check(recovery, this.site.scripts() - scripts, residue, leftKeys, stoodStill);
	}

	/**
	 * Wait until each worker has been granted a lock, or each of the locks if requests
	 * for some of them may be without an answer.
	 * @return how long that took, or {@code null} if it did not happen
	 */
	private @Nullable Duration awaitGrants(long start) throws Exception {
		boolean each = this.fault.mode() == Mode.UNANSWERED;
		int needed = this.crew.workers().size() * (each ? this.keys.size() : 1);
		while (System.nanoTime() - start < LONGEST_RECOVERY.toNanos()) {
			Thread.sleep(50);
			History history = History.read(this.crew.histories());
			Map<String, Long> first = firstGrants(history, start, each);
			if (first.size() >= needed) {
				return Duration.ofNanos(first.values().stream().mapToLong((time) -> time - start).max().orElse(0));
			}
		}
		return null;
	}

	private static Map<String, Long> firstGrants(History history, long start, boolean each) {
		return history.holds()
			.stream()
			.filter((hold) -> hold.at(Step.GRANTED) >= start)
			.collect(Collectors.toMap((hold) -> each ? hold.process() + hold.key() : hold.process(),
					(hold) -> hold.at(Step.GRANTED), Math::min));
	}

	private List<String> awaitNoKeys() throws InterruptedException {
		// A failover may lose the withdrawal of a waiter; its place in the queue then
		// expires
		Duration patience = (this.fault.exclusion() == Exclusion.UNLESS_CONFIRMED) ? Duration.ofSeconds(65)
				: this.crew.leaseTime().multipliedBy(3).plusSeconds(2);
		long start = System.nanoTime();
		List<String> left = leftKeys();
		while (!left.isEmpty() && System.nanoTime() - start < patience.toNanos()) {
			Thread.sleep(50);
			left = leftKeys();
		}
		return left;
	}

	private List<String> leftKeys() {
		return this.site.keys()
			.stream()
			.filter((key) -> !this.crew.competitor().mayBeLeft(key) && !this.crew.mayBeOfKilledWaiter(key))
			.toList();
	}

	private EpisodeResult check(@Nullable Duration recovery, long scripts, int residue, List<String> leftKeys,
			boolean stoodStill) throws IOException, SQLException {
		History history = History.read(this.crew.histories());
		List<Violation> violations = new ArrayList<>();
		List<Violation> overlaps = new ArrayList<>();
		long lostPlain = 0;
		long lostGuarded = 0;
		Balance transactions = Balance.NONE;
		for (Map.Entry<String, History> each : history.byKey().entrySet()) {
			overlaps.addAll(Overlaps.check(each.getValue(), 0));
			violations.addAll(checkLock(each.getValue()));
			long plain = each.getValue().count(Step.WROTE_PLAIN) - this.counters.readPlain(each.getKey());
			lostPlain += Math.max(0, plain);
			long guarded = each.getValue().count(Step.WROTE) - this.counters.readGuarded(each.getKey());
			lostGuarded += Math.max(0, guarded);
			Balance balance = this.ledger.balance(each.getKey());
			transactions = transactions.plus(balance);
			if (balance.lost() > 0 && this.crew.competitor().protectsTransactions()) {
				violations.add(new Violation("transactions", "%d of %d updates were lost: %s".formatted(balance.lost(),
						balance.committed(), this.ledger.twins(each.getKey())), List.of()));
			}
		}
		if (lostGuarded > 0) {
			violations.add(new Violation("fencing", lostGuarded + " guarded updates were lost", List.of()));
		}
		List<Attempt> refused = history.byKey()
			.values()
			.stream()
			.flatMap((lock) -> Refusals.find(lock, this.crew.leaseTime()).stream())
			.toList();
		List<Violation> untimely = Timeliness.check(history, this.fault, this.crew.leaseTime(), this.crew.names(),
				refused);
		if (recovery == null) {
			untimely.add(new Violation("liveness", "an instance did not acquire a lock within "
					+ LONGEST_RECOVERY.toSeconds() + " s after the fault was repaired", List.of()));
		}
		long attempts = history.attempts().size();
		long polls = history.attempts().stream().mapToLong(WaitBudget::waited).sum() / POLL_INTERVAL.toNanos();
		if (this.fault == WorkerFault.NOTHING && scripts > MOST_SCRIPTS * attempts + polls) {
			untimely.add(new Violation("command budget",
					scripts + " scripts for " + attempts + " attempts to acquire a lock", List.of()));
		}
		if (residue > 0 || !leftKeys.isEmpty()) {
			untimely.add(new Violation("residue",
					residue + " locks or background actions and the keys " + leftKeys + " were left", List.of()));
		}
		// A repetition must not hide what no standstill explains
		boolean inconclusive = stoodStill && violations.isEmpty() && !untimely.isEmpty();
		violations.addAll(untimely);
		return new EpisodeResult(this.crew.competitor(), this.store, this.fault, history, overlaps, violations,
				untimely, lostPlain, lostGuarded, transactions, refused.size(), recovery, leftKeys.size(),
				inconclusive);
	}

	private List<Violation> checkLock(History history) {
		List<Violation> violations = new ArrayList<>();
		boolean fenced = this.crew.competitor().isFenced();
		boolean always = switch (this.fault.exclusion()) {
			case ALWAYS -> true;
			case UNTIL_NOTICED -> false;
			case UNLESS_CONFIRMED -> this.crew.competitor() == Competitor.OURS_CONFIRMED;
		};
		violations.addAll(Overlaps.check(history, always ? 0 : this.crew.leaseTime().toNanos()));
		if (fenced) {
			violations.addAll(
					TokenOrder.check(history, (hold) -> always || this.crew.competitor().isFromStore(hold.token())));
		}
		if (always) {
			violations.addAll(Linearizability.check(history,
					new LockModel(true, fenced && this.crew.competitor().keepsTokenWhenNested())));
			History outermost = new History(
					history.attempts().stream().filter((attempt) -> !attempt.isNested()).toList());
			violations.addAll(Linearizability.check(outermost, new LockModel(false, fenced)));
		}
		return violations;
	}

}
