// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The code that a page of the documentation shows.
 */
final class CodeBlocks {

	private CodeBlocks() {
	}

	/**
	 * Return the blocks of a page in one language.
	 */
	static List<String> of(Path page, String language) throws IOException {
		return Pattern.compile("^```" + language + "\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL)
			.matcher(Files.readString(page))
			.results()
			.map((block) -> block.group(1))
			.toList();
	}

	static String withoutIndentation(String text) {
		return text.replaceAll("\\s*\\n\\s*", "\n").strip();
	}

}
