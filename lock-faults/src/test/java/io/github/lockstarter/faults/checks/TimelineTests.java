// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

import javax.xml.parsers.DocumentBuilderFactory;

import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;

import io.github.lockstarter.faults.history.Attempt;
import io.github.lockstarter.faults.history.History;
import io.github.lockstarter.faults.history.Step;

import static io.github.lockstarter.faults.checks.Histories.hold;
import static org.assertj.core.api.Assertions.assertThat;

class TimelineTests {

	@Test
	void aProcessThatWasThereHasALineAndOneThatWasNotHasNone() throws Exception {
		Attempt first = hold("first", 1, 0, 1_000_000, 9_000_000, 10_000_000);
		Attempt second = hold("second", 2, 0, 5_000_000, 12_000_000, 13_000_000);
		Attempt refused = new Attempt("refused", Histories.KEY, false).note(Step.ASK, 2_000_000)
			.note(Step.REFUSED, 8_000_000);
		Attempt later = hold("later", 3, 500_000_000, 500_000_001, 500_000_002, 500_000_003);
		History history = new History(List.of(first, second, refused, later));
		Violation violation = Overlaps.check(history, 0).get(0);
		String picture = Timeline.draw(history, violation);
		assertThat(picture).contains("two owners of stock for 4.0 ms", ">first<", ">second<", ">refused<")
			.doesNotContain(">later<");
		Document svg = DocumentBuilderFactory.newInstance()
			.newDocumentBuilder()
			.parse(new ByteArrayInputStream(picture.getBytes(StandardCharsets.UTF_8)));
		// The background, three bars for each of the two holds, and one for the wait
		assertThat(svg.getElementsByTagName("rect").getLength()).isEqualTo(8);
	}

}
