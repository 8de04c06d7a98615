// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import java.util.Optional;
import java.util.UUID;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.sample.stock.DeductionStrategy.UnknownProductException;

/**
 * The tables {@code mall_stock} and {@code orders}.
 */
@Repository
public class StockRepository {

	private final JdbcClient jdbc;

	private final WriteDelay writeDelay;

	StockRepository(JdbcClient jdbc, WriteDelay writeDelay) {
		this.jdbc = jdbc;
		this.writeDelay = writeDelay;
	}

	public int getCount(long productId) {
		return this.jdbc.sql("select count from mall_stock where product_id = ?")
			.param(productId)
			.query(Integer.class)
			.optional()
			.orElseThrow(() -> new UnknownProductException(productId));
	}

	public void updateCount(long productId, int count) {
		this.writeDelay.await(productId);
		this.jdbc.sql("update mall_stock set count = ?, version = version + 1 where product_id = ?")
			.params(count, productId)
			.update();
	}

	public void insertOrder(long productId, int count) {
		this.jdbc.sql("insert into orders (id, product_id, count) values (?, ?, ?)")
			.params(UUID.randomUUID().toString(), productId, count)
			.update();
	}

	@Transactional
	public void reset(long productId, int count) {
		this.jdbc.sql("delete from orders where product_id = ?").param(productId).update();
		int updated = this.jdbc.sql("""
				update mall_stock set initial_count = ?, count = ?, version = version + 1
					where product_id = ?""").params(count, count, productId).update();
		if (updated == 0) {
			this.jdbc.sql("insert into mall_stock values (?, ?, 1, ?, ?, 0, 0)")
				.params(UUID.randomUUID().toString(), productId, count, count)
				.update();
		}
		this.jdbc.sql("delete from failed_attempts where product_id = ?").param(productId).update();
		this.jdbc.sql("insert into failed_attempts values (?, 0)").param(productId).update();
	}

	Optional<StockReport> findReport(long productId) {
		return this.jdbc
			.sql("""
					select product_id, initial_count, count as remaining,
						(select coalesce(sum(o.count), 0) from orders o where o.product_id = s.product_id) as sold,
						(select coalesce(sum(a.attempts), 0) from failed_attempts a where a.product_id = s.product_id) as failed
					from mall_stock s where product_id = ?""")
			.param(productId)
			.query((row, number) -> StockReport.of(row.getLong("product_id"), row.getInt("initial_count"),
					row.getInt("remaining"), row.getLong("sold"), row.getLong("failed")))
			.optional();
	}

}
