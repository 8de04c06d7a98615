// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.github.lockstarter.faults.history.Step;
import io.github.lockstarter.faults.nemesis.Fault;
import io.github.lockstarter.faults.nemesis.RedisFault;
import io.github.lockstarter.faults.nemesis.RedisNodesFault;
import io.github.lockstarter.faults.nemesis.ServerFault;
import io.github.lockstarter.faults.nemesis.SiteKind;
import io.github.lockstarter.faults.nemesis.WorkerFault;
import io.github.lockstarter.faults.worker.Competitor;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * The short form of the suite: each fault once in the profile {@code full}, and four of
 * them in each build.
 */
@Tag("clock")
class FaultSuiteTests {

	private static final Duration LEASE_TIME = Duration.ofMillis(1000);

	@TempDir
	private Path directory;

	@ParameterizedTest
	@FullProfileOnly
	@CsvSource({ "OURS, SINGLE", "OURS, CLOCK", "OURS, SENTINEL", "OURS_CONFIRMED, SENTINEL", "OURS, DISTANT",
			"OURS, CLUSTER", "OURS_REDLOCK, INDEPENDENT", "OURS_POSTGRESQL, POSTGRESQL", "OURS_MARIADB, MARIADB",
			"OURS_ZOOKEEPER, ZOOKEEPER" })
	void nothingThatIsPromisedIsBrokenAt(Competitor competitor, SiteKind kind) throws Exception {
		assumeThat(kind.isAvailable()).as("a C compiler, and a Redis that is linked dynamically").isTrue();
		assertNothingBroken(competitor, kind, Fault.at(kind));
	}

	@ParameterizedTest
	@FullProfileOnly
	@CsvSource({ "SENTINEL, FAILOVER_PLANNED", "CLUSTER, NODE_FAILED_OVER" })
	void nothingThatIsPromisedIsBrokenByAPlannedFailoverWithJedis(SiteKind kind, RedisNodesFault fault)
			throws Exception {
		assertNothingBroken(Competitor.OURS_JEDIS, kind, List.of(fault));
	}

	@Test
	void nothingThatIsPromisedIsBrokenWhenADatabaseIsKilled() throws Exception {
		assertNothingBroken(Competitor.OURS_POSTGRESQL, SiteKind.POSTGRESQL, List.of(ServerFault.SERVER_RESTARTED));
	}

	@Test
	void transactionsOfLateOwnersLoseNoUpdate() throws Exception {
		assertNothingBroken(Competitor.OURS, SiteKind.SINGLE, List.of(WorkerFault.HOLDER_PAUSED, RedisFault.FLUSHED));
	}

	@Test
	@FullProfileOnly
	void transactionsOfLateOwnersLoseNoUpdateInMariaDb() throws Exception {
		assertNothingBroken(Competitor.OURS, SiteKind.SINGLE, List.of(WorkerFault.HOLDER_PAUSED, RedisFault.FLUSHED),
				LedgerDatabase.MARIADB);
	}

	@Test
	@FullProfileOnly
	void transactionsInTheDatabaseOfTheirLocksLoseNoUpdateInPostgres() throws Exception {
		assumeThat(SiteKind.POSTGRESQL.isAvailable()).as("a C compiler").isTrue();
		assertNothingBroken(Competitor.OURS_POSTGRESQL, SiteKind.POSTGRESQL, Fault.at(SiteKind.POSTGRESQL),
				LedgerDatabase.OF_LOCKS);
	}

	@Test
	@FullProfileOnly
	void transactionsInTheDatabaseOfTheirLocksLoseNoUpdateInMariaDb() throws Exception {
		assumeThat(SiteKind.MARIADB.isAvailable()).as("a C compiler").isTrue();
		assertNothingBroken(Competitor.OURS_MARIADB, SiteKind.MARIADB, Fault.at(SiteKind.MARIADB),
				LedgerDatabase.OF_LOCKS);
	}

	private void assertNothingBroken(Competitor competitor, SiteKind kind, List<Fault> faults) throws Exception {
		assertNothingBroken(competitor, kind, faults, LedgerDatabase.POSTGRESQL);
	}

	private void assertNothingBroken(Competitor competitor, SiteKind kind, List<Fault> faults, LedgerDatabase ledger)
			throws Exception {
		try (FaultSuite suite = new FaultSuite(this.directory, LEASE_TIME, 1, ledger)) {
			List<EpisodeResult> results = suite.run(competitor, kind, faults);
			assertThat(results).hasSameSizeAs(faults);
			for (EpisodeResult result : results) {
				SafetyViolation.check(result.unsafe().isEmpty(), "%s: %s", result.fault().title(), result.unsafe());
				assertThat(result.violations()).as(result.fault().title()).isEmpty();
				assertThat(result.history().count(Step.WROTE)).as(result.fault().title()).isPositive();
				assertThat(result.transactions().committed()).as(result.fault().title()).isPositive();
			}
		}
	}

}
