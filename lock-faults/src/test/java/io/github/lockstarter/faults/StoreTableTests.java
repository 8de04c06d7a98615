// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.faults.history.History;
import io.github.lockstarter.faults.nemesis.RedisFault;
import io.github.lockstarter.faults.worker.Competitor;
import io.github.lockstarter.faults.worker.Ledger.Balance;

import static org.assertj.core.api.Assertions.assertThat;

class StoreTableTests {

	@Test
	void lostUpdatesOfTransactionsAreAddedUpForEachFault() {
		assertThat(table(new Balance(300, 2), new Balance(700, 3))).contains("| FLUSHALL | 0 | 0 | 5.0 ‰ | 2000 |");
	}

	@Test
	void noneOfSomeTransactionsIsToldFromNoTransactions() {
		assertThat(table(new Balance(300, 0))).contains("| FLUSHALL | 0 | 0 | 0 | 2000 |");
		assertThat(table(Balance.NONE)).contains("| FLUSHALL | 0 | 0 | – | 2000 |");
	}

	@Test
	void theDocumentationHasTheColumnsOfTheReport() throws Exception {
		// Without the transactions where they were not measured
		String columns = StoreTable.COLUMNS.replace("| ms", "| s")
			.replace("|", "\\|")
			.replace(" lost in transactions \\|", "( lost in transactions \\|)?");
		List<String> heads = Files.readAllLines(Path.of("..", "docs", "guarantees.md"))
			.stream()
			.filter((line) -> line.startsWith("| fault |") && line.contains("two owners"))
			.toList();
		assertThat(heads).hasSize(4)
			.allSatisfy(
					(head) -> assertThat(head.replaceAll("[^|:]+: " + columns + " \\|", "")).isEqualTo("| fault |"));
	}

	private static String table(Balance... balances) {
		return StoreTable.of(Arrays.stream(balances).map(StoreTableTests::result).toList());
	}

	private static EpisodeResult result(Balance balance) {
		return new EpisodeResult(Competitor.OURS, "Redis", RedisFault.FLUSHED, new History(List.of()), List.of(),
				List.of(), List.of(), 0, 0, balance, 0, Duration.ofSeconds(2), 0, false);
	}

}
