// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.report;

import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import org.springframework.util.StringUtils;

import io.github.lockstarter.sample.ShopClient;
import io.github.lockstarter.sample.ShopProcess;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three instances of the shop in three JVMs, and their log messages about reports.
 */
final class ReportShops implements AutoCloseable {

	private final List<ShopProcess> shops;

	private ReportShops(List<ShopProcess> shops) {
		this.shops = shops;
	}

	/**
	 * Start the shops. An attempt fails if {@linkplain HeldDay another transaction}
	 * blocks its day for eight seconds, which is time enough for the others to skip it.
	 */
	static ReportShops start(Path directory, String... arguments) {
		String[] all = StringUtils.addStringToArray(arguments,
				"--spring.datasource.hikari.connection-init-sql=set lock_timeout 8000");
		return new ReportShops(Stream.generate(() -> ShopProcess.start(directory, all)).limit(3).toList());
	}

	/**
	 * Wait until all shops have started, and are connected to the store of their locks:
	 * the first request of a JVM is slow.
	 */
	void awaitOpen() {
		this.shops.forEach(ShopProcess::awaitOpen);
		this.shops.forEach((shop) -> ShopClient.of(shop.port()).awaitLocks());
	}

	List<ShopProcess> all() {
		return this.shops;
	}

	/**
	 * Let all shops write the report of a day at the same moment.
	 */
	void start(LocalDate day) {
		this.shops.stream()
			.map((shop) -> CompletableFuture.runAsync(() -> start(day, shop), (task) -> new Thread(task).start()))
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
		return saying("Another instance writes or wrote the report of " + day);
	}

	List<ShopProcess> failed(LocalDate day) {
		return saying("Could not write the report of " + day);
	}

	/**
	 * Return the shops that log a message, each as often as it logs it.
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
