// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.time.Duration;
import java.time.Instant;

import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.store.UnusableStoreException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class FencingBasesTests {

	private static final Instant CREATED = Instant.parse("2026-11-22T12:00:00Z");

	private static final long ELECTION = 1L << 32;

	@Test
	void aLaterTransactionHasALargerBase() {
		FencingBases bases = FencingBases.of(root(CREATED, 3 * ELECTION + 17));
		assertThat(bases.of(3 * ELECTION + 18)).isLessThan(bases.of(3 * ELECTION + 19));
		assertThat(bases.of(4 * ELECTION - 1)).isLessThan(bases.of(4 * ELECTION));
	}

	@Test
	void anEnsembleThatBeginsAgainContinuesWithLargerBases() {
		long last = FencingBases.of(root(CREATED, ELECTION + 5)).of(ELECTION + 1_000_000);
		assertThat(FencingBases.of(root(CREATED.plusSeconds(60), ELECTION + 5)).of(ELECTION + 6)).isGreaterThan(last);
		last = FencingBases.of(root(CREATED, ELECTION + 5)).of(20 * ELECTION);
		assertThat(FencingBases.of(root(CREATED.plus(Duration.ofDays(1)), ELECTION + 5)).of(ELECTION + 6))
			.isGreaterThan(last);
	}

	@Test
	void halfAMillionElectionsFit() {
		FencingBases bases = FencingBases.of(root(CREATED, ELECTION));
		assertThat(bases.of(500_000 * ELECTION)).isPositive().isLessThan(1L << 51);
		assertThatExceptionOfType(UnusableStoreException.class).isThrownBy(() -> bases.of((1L << 19) * ELECTION))
			.withMessageContaining("0x8000000000000");
	}

	@Test
	void aWrongClockAtTheBeginningMakesNoNegativeBase() {
		FencingBases bases = FencingBases.of(root(Instant.EPOCH, ELECTION));
		assertThat(bases.of(ELECTION + 1)).isEqualTo(1);
	}

	private static Stat root(Instant created, long zxid) {
		Stat stat = new Stat();
		stat.setCtime(created.toEpochMilli());
		stat.setCzxid(zxid);
		return stat;
	}

}
