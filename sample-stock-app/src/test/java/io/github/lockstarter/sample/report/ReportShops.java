// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.report;

import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.github.lockstarter.sample.ShopClient;
import io.github.lockstarter.sample.ShopProcess;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three instances of the shop in three JVMs, and what they say about their reports.
 */
final class ReportShops implements AutoCloseable {

	private final List<ShopProcess> shops;

	/**
	 * Open the shops. Two tries are as far apart as the arguments say, and a try fails if
	 * {@linkplain HeldDay somebody} holds its day for four seconds.
	 */
	ReportShops(Path directory, String... arguments) {
		List<String> all = Stream
			.concat(Stream.of(arguments),
					Stream.of("--shop.report.cron=-",
							"--spring.datasource.hikari.connection-init-sql=set lock_timeout 4000"))
			.toList();
		this.shops = Stream.generate(() -> ShopProcess.start(directory, all.toArray(String[]::new))).limit(3).toList();
		this.shops.forEach(ShopProcess::awaitOpen);
		// The first request of a JVM takes long
		this.shops.forEach((shop) -> ShopClient.of(shop.port()).deduct(404, "strategy=distributed-lock"));
	}

	List<ShopProcess> all() {
		return this.shops;
	}

	/**
	 * Tell all shops to write the report of a day, at the same moment.
	 */
	void start(LocalDate day) {
		this.shops.stream()
			.map((shop) -> CompletableFuture.runAsync(() -> start(day, shop)))
			.toList()
			.forEach(CompletableFuture::join);
	}

	void start(LocalDate day, ShopProcess shop) {
		assertThat(ShopClient.of(shop.port()).report(day).statusCode()).isEqualTo(202);
	}

	List<ShopProcess> written(LocalDate day) {
		return saying("Wrote DailyReport[day=" + day);
	}

	List<ShopProcess> skipped(LocalDate day) {
		return saying("Somebody else writes or wrote the report of " + day);
	}

	List<ShopProcess> failed(LocalDate day) {
		return saying("Could not write the report of " + day);
	}

	/**
	 * Return the shops that say something, each as often as it does.
	 */
	private List<ShopProcess> saying(String message) {
		return this.shops.stream()
			.flatMap((shop) -> shop.log().lines().filter((line) -> line.contains(message)).map((line) -> shop))
			.toList();
	}

	@Override
	public void close() {
		this.shops.forEach(ShopProcess::close);
	}

}
