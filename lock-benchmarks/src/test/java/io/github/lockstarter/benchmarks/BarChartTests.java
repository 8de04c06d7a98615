// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks;

import java.io.StringReader;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

import javax.xml.parsers.DocumentBuilderFactory;

import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

import static org.assertj.core.api.Assertions.assertThat;

class BarChartTests {

	private static final Pattern ACCENT = Pattern.compile("fill:\\s*(rgb\\(31,143,95\\)|#1F8F5F)",
			Pattern.CASE_INSENSITIVE);

	@Test
	void eachCompetitorHasItsNameAndItsNumberAndOursTheAccent() throws Exception {
		Map<String, Double> values = new LinkedHashMap<>();
		values.put("ours", 5805.0);
		values.put("Redisson", 3404.4);
		values.put("floor", 0.5);
		String svg = BarChart.svg("Uncontended", "acquisitions/s (more is better)", values, "ours"::equals);
		Document document = DocumentBuilderFactory.newInstance()
			.newDocumentBuilder()
			.parse(new InputSource(new StringReader(svg)));
		NodeList texts = document.getElementsByTagName("text");
		StringBuilder all = new StringBuilder();
		for (int i = 0; i < texts.getLength(); i++) {
			all.append(texts.item(i).getTextContent()).append('|');
		}
		assertThat(all.toString()).contains("Uncontended", "acquisitions/s (more is better)", "ours", "5805",
				"Redisson", "3404", "floor", "0.50");
		assertThat(ACCENT.matcher(svg).results()).hasSize(1);
	}

}
