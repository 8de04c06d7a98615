// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.util.List;

/**
 * Where Redis is, as a word that can be passed to another process.
 *
 * @param kind how it is run
 * @param nodes host and port of the server, of the sentinels or of the cluster's nodes
 */
public record RedisAddress(Kind kind, List<String> nodes) {

	/** Name that sentinels know the primary by. */
	public static final String PRIMARY = "primary";

	static RedisAddress parse(String text) {
		String[] parts = text.split("=");
		return new RedisAddress(Kind.valueOf(parts[0]), List.of(parts[1].split(",")));
	}

	@Override
	public String toString() {
		return this.kind + "=" + String.join(",", this.nodes);
	}

	/**
	 * How Redis is run.
	 */
	public enum Kind {

		SINGLE, SENTINEL, CLUSTER

	}

}
