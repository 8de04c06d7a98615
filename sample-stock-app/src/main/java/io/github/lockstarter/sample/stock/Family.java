// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * What a {@link DeductionStrategy} relies on.
 */
public enum Family {

	/** A lock that only the threads of one JVM see, or none. */
	@JsonProperty("jvm")
	JVM,

	/** The database that has the stock. */
	@JsonProperty("database")
	DATABASE,

	/** A few commands to Redis, as they are often written by hand. */
	@JsonProperty("naive-redis")
	NAIVE_REDIS,

	/** The distributed lock of another library. */
	@JsonProperty("library")
	LIBRARY,

	/** The distributed locks of this project. */
	@JsonProperty("distributed-lock")
	DISTRIBUTED_LOCK

}
