// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * One Redis server: the commands that the scripts use, as Redis 7.0 carries them out. A
 * text is one of bytes, as ISO-8859-1. Answers are texts, {@code Long}, {@link Status},
 * lists of these, and {@code null} for none.
 */
final class RedisModel {

	private final LongSupplier micros;

	private final Map<String, Entry> entries = new TreeMap<>();

	private final Map<String, Set<Consumer<String>>> channels = new TreeMap<>();

	/**
	 * Create a server.
	 * @param micros its clock: the microseconds since 1970
	 */
	RedisModel(LongSupplier micros) {
		this.micros = micros;
	}

	/**
	 * Lose all data.
	 */
	void flush() {
		this.entries.clear();
	}

	void subscribe(String channel, Consumer<String> subscriber) {
		this.channels.computeIfAbsent(channel, (absent) -> new LinkedHashSet<>()).add(subscriber);
	}

	void unsubscribe(String channel, Consumer<String> subscriber) {
		this.channels.computeIfPresent(channel, (present, subscribers) -> {
			subscribers.remove(subscriber);
			return subscribers;
		});
	}

	boolean exists(String key) {
		return find(key) != null;
	}

	/**
	 * Return the keys that stay for ever.
	 */
	List<String> keysWithoutEnd() {
		return this.entries.entrySet()
			.stream()
			.filter((each) -> each.getValue().end < 0)
			.map(Map.Entry::getKey)
			.toList();
	}

	/**
	 * Carry out a command.
	 * @throws RedisError if the server answers with an error
	 */
	@Nullable Object call(List<String> command) {
		String key = (command.size() > 1) ? command.get(1) : "";
		List<String> arguments = command.subList(Math.min(2, command.size()), command.size());
		List<String> keys = command.subList(1, command.size());
		return switch (command.get(0)) {
			case "TIME" -> List.of(Long.toString(this.micros.getAsLong() / 1_000_000),
					Long.toString(this.micros.getAsLong() % 1_000_000));
			case "INFO" -> "# Server\r\nrun_id:0f\r\nuptime_in_seconds:7\r\n";
			case "EXISTS" -> keys.stream().filter(this::exists).count();
			case "DEL" -> keys.stream().filter((each) -> exists(each) && this.entries.remove(each) != null).count();
			case "GET" -> text(find(key));
			case "MGET" -> list(keys.stream().map(this::find).map((found) -> isText(found) ? text(found) : null));
			case "SET" -> set(key, arguments.get(0), arguments.subList(1, arguments.size()));
			case "PTTL" -> left(find(key));
			case "PEXPIRETIME" -> end(find(key));
			case "PEXPIRE" -> expireAt(key, millis() + integer(arguments.get(0)));
			case "PEXPIREAT" -> expireAt(key, integer(arguments.get(0)));
			case "ZADD" -> zadd(key, Double.parseDouble(arguments.get(0)), arguments.get(1));
			case "ZREM" -> arguments.stream().filter((member) -> zrem(key, member)).count();
			case "ZSCORE" -> score(set(key).get(arguments.get(0)));
			case "ZRANGE" -> range(ordered(set(key)), (int) integer(arguments.get(0)), (int) integer(arguments.get(1)),
					arguments.size() > 2);
			case "ZREMRANGEBYSCORE" -> removeUpTo(key, Double.parseDouble(arguments.get(1)));
			case "PUBLISH" -> publish(key, arguments.get(0));
			case "PUBSUB" -> List.of(arguments.get(0), (long) subscribers(arguments.get(0)).size());
			default -> throw new RedisError("ERR Unknown Redis command called from script: " + command);
		};
	}

	private long millis() {
		return this.micros.getAsLong() / 1000;
	}

	/** A key lives until the millisecond of its end is over. */
	private @Nullable Entry find(String key) {
		Entry entry = this.entries.get(key);
		if (entry != null && entry.end >= 0 && millis() > entry.end) {
			this.entries.remove(key);
			return null;
		}
		return entry;
	}

	private @Nullable Object set(String key, String value, List<String> options) {
		Entry before = find(key);
		Object answer = options.contains("GET") ? text(before) : Status.OK;
		if (options.contains("NX") && before != null) {
			return null;
		}
		int px = options.indexOf("PX");
		long lifetime = (px >= 0) ? integer(options.get(px + 1)) : 0;
		if (px >= 0 && lifetime <= 0) {
			throw new RedisError("ERR invalid expire time in 'set' command");
		}
		this.entries.put(key, new Entry(value, (px >= 0) ? millis() + lifetime : -1));
		return answer;
	}

	private long left(@Nullable Entry entry) {
		long end = end(entry);
		return (end < 0) ? end : Math.max(0, end - millis());
	}

	private long end(@Nullable Entry entry) {
		return (entry != null) ? entry.end : -2;
	}

	private long expireAt(String key, long end) {
		Entry entry = find(key);
		if (entry == null) {
			return 0;
		}
		entry.end = end;
		if (end <= millis()) {
			this.entries.remove(key);
		}
		return 1;
	}

	private long zadd(String key, double score, String member) {
		Map<String, Double> set = set(key);
		this.entries.putIfAbsent(key, new Entry(set, -1));
		return (set.put(member, score) == null) ? 1 : 0;
	}

	private boolean zrem(String key, String member) {
		Map<String, Double> set = set(key);
		boolean removed = set.remove(member) != null;
		if (set.isEmpty()) {
			this.entries.remove(key);
		}
		return removed;
	}

	private long removeUpTo(String key, double most) {
		return ordered(set(key)).stream()
			.filter((member) -> member.getValue() <= most)
			.filter((member) -> zrem(key, member.getKey()))
			.count();
	}

	private static List<Map.Entry<String, Double>> ordered(Map<String, Double> set) {
		List<Map.Entry<String, Double>> members = new ArrayList<>();
		set.forEach((member, score) -> members.add(Map.entry(member, score)));
		members.sort(Map.Entry.<String, Double>comparingByValue().thenComparing(Map.Entry.comparingByKey()));
		return members;
	}

	private static List<Object> range(List<Map.Entry<String, Double>> members, int first, int last, boolean scores) {
		int from = Math.max(0, (first < 0) ? first + members.size() : first);
		int to = Math.min(members.size() - 1, (last < 0) ? last + members.size() : last);
		List<Object> range = new ArrayList<>();
		for (int i = from; i <= to; i++) {
			range.add(members.get(i).getKey());
			if (scores) {
				range.add(number(members.get(i).getValue()));
			}
		}
		return range;
	}

	private long publish(String channel, String message) {
		List<Consumer<String>> subscribers = List.copyOf(subscribers(channel));
		subscribers.forEach((each) -> each.accept(message));
		return subscribers.size();
	}

	private Set<Consumer<String>> subscribers(String channel) {
		return this.channels.getOrDefault(channel, Set.of());
	}

	private static boolean isText(@Nullable Entry entry) {
		return entry != null && entry.value instanceof String;
	}

	private static @Nullable String text(@Nullable Entry entry) {
		if (entry != null && !isText(entry)) {
			throw RedisError.wrongType();
		}
		return (entry != null) ? (String) entry.value : null;
	}

	/** The sorted set of a key; a new one if there is none. */
	@SuppressWarnings("unchecked")
	private Map<String, Double> set(String key) {
		Entry entry = find(key);
		if (isText(entry)) {
			throw RedisError.wrongType();
		}
		return (entry != null) ? (Map<String, Double>) entry.value : new TreeMap<>();
	}

	private static List<@Nullable Object> list(Stream<? extends @Nullable Object> elements) {
		List<@Nullable Object> list = new ArrayList<>();
		elements.forEach(list::add);
		return list;
	}

	private static long integer(String text) {
		try {
			return Long.parseLong(text);
		}
		catch (NumberFormatException ex) {
			throw new RedisError("ERR value is not an integer or out of range");
		}
	}

	private static @Nullable String score(@Nullable Double score) {
		return (score != null) ? number(score) : null;
	}

	/**
	 * Return a number as Redis writes a score, and a number argument of a script.
	 */
	static String number(double number) {
		return (number == Math.rint(number) && Math.abs(number) < 1e17) ? Long.toString((long) number)
				: new BigDecimal(number).round(new MathContext(17)).toString();
	}

	private static final class Entry {

		private final Object value;

		/** In milliseconds since 1970; -1 for none. */
		private long end;

		private Entry(Object value, long end) {
			this.value = value;
			this.end = end;
		}

	}

	/**
	 * An answer that only says how it went.
	 */
	record Status(String text) {

		static final Status OK = new Status("OK");

	}

	/**
	 * An answer that is an error.
	 */
	static final class RedisError extends RuntimeException {

		RedisError(String message) {
			super(message, null, false, false);
		}

		static RedisError wrongType() {
			return new RedisError("WRONGTYPE Operation against a key holding the wrong kind of value");
		}

	}

}
