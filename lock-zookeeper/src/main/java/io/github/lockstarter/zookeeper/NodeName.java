// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.store.OwnerToken;

/**
 * The name of a node: its id, whether it is exclusive or shared, and the number that the
 * server adds. Nodes are ordered by their numbers. A server counts up to the largest
 * {@code int}, which it then repeats, so a line ends long before that.
 *
 * @param text the whole name
 * @param id the id: the name of the instance, a dot, and random characters, so that a
 * list of the nodes shows who has the lock and who waits
 * @param isExclusive whether the node excludes all others
 * @param number its number
 */
record NodeName(String text, String id, boolean isExclusive, long number) implements Comparable<NodeName> {

	private static final Pattern PATTERN = Pattern
		.compile("([A-Za-z0-9@._:-]{1,64}\\.[A-Za-z0-9_-]{22})-([xs])-(\\d{10})");

	private static final long LARGEST = 1 << 30;

	/**
	 * Return the name of a node, or {@code null} if it is not the node of a lock.
	 */
	static @Nullable NodeName parse(String text) {
		Matcher matcher = PATTERN.matcher(text);
		if (!matcher.matches()) {
			return null;
		}
		return new NodeName(text, matcher.group(1), matcher.group(2).equals("x"), Long.parseLong(matcher.group(3)));
	}

	/**
	 * Return whether the number is so large that the line has to end.
	 */
	boolean isTooLarge() {
		return this.number > LARGEST;
	}

	static NodeName ofPath(String path) {
		NodeName name = parse(path.substring(path.lastIndexOf('/') + 1));
		if (name == null) {
			throw new IllegalArgumentException("'" + path + "' is not the node of a lock");
		}
		return name;
	}

	/**
	 * Return the beginning of a new name, without the number.
	 */
	static String begin(String id, boolean exclusive) {
		return id + (exclusive ? "-x-" : "-s-");
	}

	/**
	 * Return a new id.
	 * @param owner an owner, whose instance is part of the id
	 */
	static String newId(OwnerToken owner) {
		return owner + "." + OwnerToken.randomId();
	}

	@Override
	@SuppressWarnings("NullAway") // no name is compared with null
	public int compareTo(NodeName other) {
		return Long.compare(this.number, other.number);
	}

}
