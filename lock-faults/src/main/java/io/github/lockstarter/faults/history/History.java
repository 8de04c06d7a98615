// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.history;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The observations of all workers in one episode.
 *
 * @param attempts the attempts, in the order of their requests
 */
public record History(List<Attempt> attempts) {

	public History {
		attempts = attempts.stream().sorted(Comparator.comparingLong((attempt) -> attempt.at(Step.ASK))).toList();
	}

	/**
	 * Read the files of all workers. An incomplete last line of a killed process is
	 * ignored.
	 */
	public static History read(Collection<Path> files) throws IOException {
		List<Attempt> attempts = new ArrayList<>();
		for (Path file : files) {
			attempts.addAll(read(Files.readString(file)));
		}
		return new History(attempts);
	}

	static Collection<Attempt> read(String text) {
		Map<String, Attempt> attempts = new LinkedHashMap<>();
		text.substring(0, text.lastIndexOf('\n') + 1).lines().map((line) -> line.split(" ")).forEach((words) -> {
			Attempt attempt = attempts.computeIfAbsent(words[0],
					(id) -> new Attempt(words[1], words[2], Boolean.parseBoolean(words[3])));
			Step step = Step.valueOf(words[4]);
			long time = Long.parseLong(words[5]);
			if (step == Step.GRANTED) {
				attempt.granted(time, Long.parseLong(words[6]));
			}
			else {
				attempt.note(step, time);
			}
		});
		return attempts.values();
	}

	/**
	 * Return the separate history of each lock.
	 */
	public Map<String, History> byKey() {
		Map<String, History> histories = new TreeMap<>();
		this.attempts.stream()
			.collect(Collectors.groupingBy(Attempt::key))
			.forEach((key, attempts) -> histories.put(key, new History(attempts)));
		return histories;
	}

	/**
	 * Return the attempts that were granted.
	 */
	public List<Attempt> holds() {
		return this.attempts.stream().filter((attempt) -> attempt.has(Step.GRANTED)).toList();
	}

	/**
	 * Return how many attempts have reached a step.
	 */
	public long count(Step step) {
		return this.attempts.stream().filter((attempt) -> attempt.has(step)).count();
	}

}
