// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.util.List;

/**
 * The address of the servers that keep locks, as a word that can be passed to another
 * process.
 *
 * @param kind the deployment of the servers
 * @param nodes host and port of the server, of the sentinels, of the cluster's nodes or
 * of the members; or the URL of a database
 */
public record ServerAddress(Kind kind, List<String> nodes) {

	/** The name of the primary in sentinels. */
	public static final String PRIMARY = "primary";

	static ServerAddress parse(String text) {
		String[] parts = text.split("=", 2);
		return new ServerAddress(Kind.valueOf(parts[0]), List.of(parts[1].split(",")));
	}

	@Override
	public String toString() {
		return this.kind + "=" + String.join(",", this.nodes);
	}

	/**
	 * The deployment of the servers.
	 */
	public enum Kind {

		SINGLE("Redis"), SENTINEL("Redis"), CLUSTER("Redis"), INDEPENDENT("independent Redis servers"),
		POSTGRESQL("PostgreSQL"), MARIADB("MariaDB"), ZOOKEEPER("ZooKeeper");

		private final String store;

		Kind(String store) {
			this.store = store;
		}

		/**
		 * Return whether nodes have the URL of a database.
		 */
		public boolean isDatabase() {
			return this == POSTGRESQL || this == MARIADB;
		}

		/**
		 * Return what keeps the locks.
		 */
		public String store() {
			return this.store;
		}

	}

}
