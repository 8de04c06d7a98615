// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.apache.curator.utils.ZKPaths;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;

/**
 * The paths of locks. A lock is a child of the root, named by the text of its key. The
 * characters that ZooKeeper does not allow in a name are percent-encoded as UTF-8; the
 * text contains no other percent sign than those that begin such a code, so different
 * locks have different paths.
 */
final class LockPaths {

	private final String root;

	/**
	 * Create the paths.
	 * @param namespace the namespace of the client, or {@code null} or empty for none
	 * @param root the root within the namespace
	 */
	LockPaths(@Nullable String namespace, String root) {
		this.root = (namespace == null || namespace.isEmpty()) ? root : ZKPaths.makePath(namespace, root);
	}

	String root() {
		return this.root;
	}

	/**
	 * Return the ancestors of the root and the root itself, from the top.
	 */
	List<String> ancestors() {
		List<String> ancestors = new ArrayList<>();
		for (int end = this.root.indexOf('/', 1); end > 0; end = this.root.indexOf('/', end + 1)) {
			ancestors.add(this.root.substring(0, end));
		}
		ancestors.add(this.root);
		return ancestors;
	}

	/**
	 * Return the path of a lock.
	 */
	String of(LockKey key) {
		return this.root + '/' + encode(key.text());
	}

	/**
	 * Return the path of the lock to which a node belongs.
	 */
	static String lockOf(String path) {
		return path.substring(0, path.lastIndexOf('/'));
	}

	private static String encode(String text) {
		if (text.equals(".") || text.equals("..")) {
			return text.replace(".", "%2E");
		}
		if (text.codePoints().allMatch(LockPaths::isAllowed)) {
			return text;
		}
		StringBuilder encoded = new StringBuilder(text.length() + 16);
		text.codePoints().forEach((codePoint) -> {
			if (isAllowed(codePoint)) {
				encoded.appendCodePoint(codePoint);
			}
			else {
				for (byte b : Character.toString(codePoint).getBytes(StandardCharsets.UTF_8)) {
					encoded.append(String.format(Locale.ROOT, "%%%02X", b));
				}
			}
		});
		return encoded.toString();
	}

	private static boolean isAllowed(int codePoint) {
		return codePoint != '/' && codePoint > 0x1F && (codePoint < 0x7F || codePoint > 0x9F) && codePoint < 0xFFF0
				&& (codePoint < 0xD800 || codePoint > 0xF8FF);
	}

}
