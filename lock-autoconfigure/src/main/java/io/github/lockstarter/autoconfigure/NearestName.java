// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;

/**
 * Finds the name that a misspelt one may stand for, for messages.
 */
final class NearestName {

	private static final int MOST_EDITS = 2;

	private NearestName() {
	}

	/**
	 * Return a part of a sentence that tells the nearest name, or an empty text if none
	 * is near.
	 * @param name the misspelt name
	 * @param known the names that exist
	 */
	static String hint(String name, Collection<String> known) {
		return known.stream()
			.filter((each) -> isNear(name, each))
			.min(Comparator.comparingInt((each) -> edits(name, each)))
			.map((nearest) -> "; the nearest one is '" + nearest + "'")
			.orElse("");
	}

	/**
	 * Return whether a name may be a misspelt form of another one.
	 * @param name the name
	 * @param known the other one
	 */
	static boolean isNear(String name, String known) {
		return edits(name, known) <= Math.min(MOST_EDITS, known.length() / 2);
	}

	/**
	 * Return the edit distance of Levenshtein.
	 * @param one a name
	 * @param other another name
	 */
	static int edits(String one, String other) {
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
