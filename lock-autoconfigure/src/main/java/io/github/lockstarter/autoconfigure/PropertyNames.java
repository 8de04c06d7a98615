// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

import org.springframework.boot.context.properties.bind.DataObjectPropertyName;

/**
 * The names of the properties of {@link DistributedLockProperties}, without their prefix.
 */
final class PropertyNames {

	private static final List<String> ALL = below("", DistributedLockProperties.class).toList();

	private PropertyNames() {
	}

	/**
	 * Return the name closest to a misspelt one.
	 */
	static String nearest(String name) {
		return ALL.stream().min(Comparator.comparingInt((known) -> distance(name, known))).orElseThrow();
	}

	private static Stream<String> below(String prefix, Class<?> type) {
		return Arrays.stream(type.getRecordComponents()).flatMap((component) -> names(prefix, component));
	}

	private static Stream<String> names(String prefix, RecordComponent component) {
		String name = prefix + DataObjectPropertyName.toDashedForm(component.getName());
		return component.getType().isRecord() ? below(name + ".", component.getType()) : Stream.of(name);
	}

	/** Leaving out the group counts as one mistake. */
	private static int distance(String name, String known) {
		String lastElement = known.substring(known.lastIndexOf('.') + 1);
		return Math.min(edits(uniform(name), uniform(known)), 1 + edits(uniform(name), uniform(lastElement)));
	}

	private static String uniform(String name) {
		return name.replace("-", "");
	}

	/** The edit distance of Levenshtein. */
	private static int edits(String one, String other) {
		int[] row = new int[other.length() + 1];
		Arrays.setAll(row, (i) -> i);
		for (int i = 1; i <= one.length(); i++) {
			int diagonal = row[0];
			row[0] = i;
			for (int j = 1; j <= other.length(); j++) {
				int replaced = diagonal + ((one.charAt(i - 1) != other.charAt(j - 1)) ? 1 : 0);
				diagonal = row[j];
				row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
			}
		}
		return row[other.length()];
	}

}
