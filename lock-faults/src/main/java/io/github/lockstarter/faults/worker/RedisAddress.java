// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.util.List;

/**
 * The address of Redis, as a word that can be passed to another process.
 *
 * @param kind the deployment of Redis
 * @param nodes host and port of the server, of the sentinels or of the cluster's nodes
 */
public record RedisAddress(Kind kind, List<String> nodes) {

	/** The name of the primary in sentinels. */
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
	 * The deployment of Redis.
	 */
	public enum Kind {

		SINGLE, SENTINEL, CLUSTER

	}

}
