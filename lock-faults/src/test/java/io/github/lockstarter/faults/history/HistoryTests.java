// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.history;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.lockstarter.faults.history.HistoryWriter.Scribe;

import static org.assertj.core.api.Assertions.assertThat;

class HistoryTests {

	@Test
	void whatWasWrittenIsReadAndALineThatWasCutOffIsNot(@TempDir Path directory) throws Exception {
		Path file = directory.resolve("history");
		try (HistoryWriter writer = new HistoryWriter(file, "w1")) {
			Scribe scribe = writer.begin(3, "stock", true);
			scribe.note(Step.ASK, 10, 0);
			scribe.note(Step.GRANTED, 20, 4096);
			scribe.note(Step.HELD, 25, 0);
			scribe.note(Step.HELD, 30, 0);
		}
		Files.writeString(file, "w1-1 w1-3 stock true GIV", StandardOpenOption.APPEND);
		Attempt attempt = History.read(List.of(file)).holds().get(0);
		assertThat(attempt.owner()).isEqualTo("w1-3");
		assertThat(attempt.process()).isEqualTo("w1");
		assertThat(attempt.key()).isEqualTo("stock");
		assertThat(attempt.isNested()).isTrue();
		assertThat(attempt.token()).isEqualTo(4096);
		assertThat(attempt.heldUntil()).isEqualTo(30);
		assertThat(attempt.has(Step.GIVE)).isFalse();
		assertThat(attempt.isReleased()).isFalse();
	}

}
