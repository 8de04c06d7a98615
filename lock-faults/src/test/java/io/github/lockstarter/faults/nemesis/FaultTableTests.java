// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The documentation says which fault strikes which store.
 */
class FaultTableTests {

	private static final Map<String, Set<SiteKind>> STORES = stores();

	@Test
	void theDocumentationHasEachFaultOfEachStore() throws Exception {
		Set<String> titles = Fault.all()
			.stream()
			.map(Fault::title)
			.collect(Collectors.toCollection(LinkedHashSet::new));
		String table = titles.stream().map(FaultTableTests::row).collect(Collectors.joining("\n"));
		assertThat(Files.readString(Path.of("..", "docs", "guarantees.md"))).contains(table + "\n");
	}

	private static String row(String title) {
		return STORES.values()
			.stream()
			.map((sites) -> cell(title, sites))
			.collect(Collectors.joining(" | ", "| " + title + " | ", " |"));
	}

	private static String cell(String title, Set<SiteKind> sites) {
		Set<Exclusion> exclusions = Fault.all()
			.stream()
			.filter((fault) -> fault.title().equals(title))
			.filter((fault) -> fault.nature().sites().stream().anyMatch(sites::contains))
			.map(Fault::exclusion)
			.collect(Collectors.toCollection(() -> EnumSet.noneOf(Exclusion.class)));
		if (exclusions.isEmpty()) {
			return "";
		}
		return exclusions.equals(Set.of(Exclusion.ALWAYS)) ? "one owner" : "may be two";
	}

	private static Map<String, Set<SiteKind>> stores() {
		Map<String, Set<SiteKind>> stores = new LinkedHashMap<>();
		stores.put("Redis",
				EnumSet.of(SiteKind.SINGLE, SiteKind.DISTANT, SiteKind.CLOCK, SiteKind.SENTINEL, SiteKind.CLUSTER));
		stores.put("Redlock", EnumSet.of(SiteKind.INDEPENDENT));
		stores.put("PostgreSQL", EnumSet.of(SiteKind.POSTGRESQL));
		stores.put("MariaDB", EnumSet.of(SiteKind.MARIADB));
		stores.put("ZooKeeper", EnumSet.of(SiteKind.ZOOKEEPER));
		return stores;
	}

}
