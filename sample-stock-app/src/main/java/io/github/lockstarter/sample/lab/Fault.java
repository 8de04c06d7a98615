// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.lab;

import java.util.Locale;

import com.fasterxml.jackson.annotation.JsonValue;

/**
 * What may happen during a sale. The lab says in a header of a request that its sale is
 * to meet the fault, or is the cause itself.
 */
enum Fault {

	NONE("Nothing happens"),

	SLOW("One sale in ten takes 300 ms longer between its read and its write"),

	PAUSE("One instance is stopped between a read and a write, for longer than its lease"),

	CRASH("One instance crashes between a read and a write, and releases no lock"),

	REDIS_RESTART("Redis is restarted, empty, when half of the stock is sold"),

	FLUSHALL("Redis forgets all keys when half of the stock is sold");

	static final String HEADER = "X-Lab-Fault";

	private final String description;

	Fault(String description) {
		this.description = description;
	}

	@JsonValue
	String id() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	Description described() {
		return new Description(id(), this.description);
	}

	record Description(String name, String description) {
	}

}
