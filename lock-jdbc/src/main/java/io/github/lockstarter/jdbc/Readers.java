// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.store.OwnerToken;

/**
 * The readers that share a lock, and when their leases end.
 */
final class Readers {

	private final Map<String, Long> ends = new LinkedHashMap<>();

	/**
	 * Return the readers that were written as lines of text; lines of other kinds are
	 * skipped.
	 */
	static Readers read(@Nullable String text) {
		Readers readers = new Readers();
		if (text != null) {
			text.lines()
				.map((line) -> line.split(" "))
				.filter((fields) -> fields.length == 2)
				.forEach((fields) -> readers.ends.put(fields[0], Long.parseLong(fields[1])));
		}
		return readers;
	}

	Stream<String> write() {
		return this.ends.entrySet().stream().map((reader) -> reader.getKey() + ' ' + reader.getValue());
	}

	void forEach(BiConsumer<String, Long> action) {
		this.ends.forEach(action);
	}

	boolean isEmpty() {
		return this.ends.isEmpty();
	}

	/**
	 * Return whether a reader has a share, be its lease over or not.
	 */
	boolean contains(OwnerToken owner) {
		return this.ends.containsKey(owner.value());
	}

	void put(OwnerToken owner, long end) {
		this.ends.put(owner.value(), end);
	}

	void remove(OwnerToken owner) {
		this.ends.remove(owner.value());
	}

	void expire(long now) {
		this.ends.values().removeIf((end) -> end <= now);
	}

	void clear() {
		this.ends.clear();
	}

	/**
	 * Return the reader whose lease ends last.
	 */
	String last() {
		return Collections.max(this.ends.entrySet(), Map.Entry.comparingByValue()).getKey();
	}

	/**
	 * Return when the last lease ends.
	 */
	long lastEnd() {
		return this.ends.values().stream().mapToLong(Long::longValue).max().orElseThrow();
	}

}
