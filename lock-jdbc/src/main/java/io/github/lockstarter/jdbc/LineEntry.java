// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A place in the line of a lock. All times are microseconds since 1970 by the clock of
 * the database.
 */
final class LineEntry {

	private static final String NONE = "-";

	private Spot spot;

	/** A JVM that has not asked until then is taken for dead. */
	private long liveUntil;

	/** For how long a free lock is reserved for this place. */
	private long pace;

	/** When the JVM was notified that it is its turn and has not asked since, or 0. */
	private long toldAt;

	/** Until when it is the turn of this place, or 0. */
	private long turnEnds;

	LineEntry(Spot spot, long liveUntil, long pace) {
		this.spot = spot;
		this.liveUntil = liveUntil;
		this.pace = pace;
	}

	Spot spot() {
		return this.spot;
	}

	long pace() {
		return this.pace;
	}

	long toldAt() {
		return this.toldAt;
	}

	long turnEnds() {
		return this.turnEnds;
	}

	boolean isTold() {
		return this.toldAt != 0;
	}

	boolean isAlive(long now) {
		return this.liveUntil > now;
	}

	/**
	 * Note that the JVM asks, for this place or for its counterpart.
	 */
	void asked(Spot spot, long liveUntil, long pace) {
		this.spot = spot;
		this.liveUntil = liveUntil;
		this.pace = pace;
		this.toldAt = 0;
	}

	void tell(long now) {
		this.toldAt = now;
	}

	void untell() {
		this.toldAt = 0;
	}

	void beginTurn(long now) {
		this.turnEnds = now + this.pace;
	}

	void endTurn() {
		this.turnEnds = 0;
	}

	String write() {
		String kind = this.spot.isFair() ? "f" : (this.spot.shared() ? "r" : "w");
		String owner = (this.spot.fairOwner() != null) ? this.spot.fairOwner() : NONE;
		return String.join(" ", kind, this.spot.jvm(), owner, Long.toString(this.liveUntil), Long.toString(this.pace),
				Long.toString(this.toldAt), Long.toString(this.turnEnds));
	}

	/**
	 * Return the places that were written as lines of text; lines of other kinds are
	 * skipped.
	 */
	static List<LineEntry> readAll(@Nullable String text) {
		List<LineEntry> places = new ArrayList<>();
		for (String each : ((text != null) ? text : "").split("\n")) {
			LineEntry place = read(each);
			if (place != null) {
				places.add(place);
			}
		}
		return places;
	}

	/**
	 * Return when a JVM was told the last time that it is its turn, or 0.
	 */
	static long toldAt(List<LineEntry> places, String jvm) {
		return places.stream().filter((place) -> place.spot.isOf(jvm)).mapToLong(LineEntry::toldAt).max().orElse(0);
	}

	private static @Nullable LineEntry read(String text) {
		String[] fields = text.split(" ");
		if (fields.length != 7) {
			return null;
		}
		Spot spot = new Spot(fields[1], fields[0].equals("r"), fields[2].equals(NONE) ? null : fields[2]);
		LineEntry place = new LineEntry(spot, Long.parseLong(fields[3]), Long.parseLong(fields[4]));
		place.toldAt = Long.parseLong(fields[5]);
		place.turnEnds = Long.parseLong(fields[6]);
		return place;
	}

}
