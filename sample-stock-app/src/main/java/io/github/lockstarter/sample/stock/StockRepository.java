// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import java.util.Optional;
import java.util.UUID;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Transactional;

/**
 * The tables {@code mall_stock} and {@code orders}.
 */
@Repository
class StockRepository {

	private final JdbcClient jdbc;

	StockRepository(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	int getCount(long productId) {
		return this.jdbc.sql("select count from mall_stock where product_id = ?")
			.param(productId)
			.query(Integer.class)
			.optional()
			.orElseThrow(() -> new UnknownProductException(productId));
	}

	/**
	 * Claim a product, so that owners with older fencing tokens can no longer write.
	 */
	void claim(long productId, long fencingToken) {
		int claimed = this.jdbc.sql("update mall_stock set fence = ? where product_id = ? and fence < ?")
			.params(fencingToken, productId, fencingToken)
			.update();
		if (claimed == 0) {
			getCount(productId);
			throw new LateOwnerException(productId);
		}
	}

	void updateCount(long productId, int count) {
		this.jdbc.sql("update mall_stock set count = ?, version = version + 1 where product_id = ?")
			.params(count, productId)
			.update();
	}

	void insertOrder(long productId, int count) {
		this.jdbc.sql("insert into orders (id, product_id, count) values (?, ?, ?)")
			.params(UUID.randomUUID().toString(), productId, count)
			.update();
	}

	@Transactional
	public void reset(long productId, int count) {
		this.jdbc.sql("delete from orders where product_id = ?").param(productId).update();
		int updated = this.jdbc
			.sql("update mall_stock set initial_count = ?, count = ?, version = version + 1 where product_id = ?")
			.params(count, count, productId)
			.update();
		if (updated == 0) {
			this.jdbc.sql("insert into mall_stock values (?, ?, 1, ?, ?, 0, 0)")
				.params(UUID.randomUUID().toString(), productId, count, count)
				.update();
		}
	}

	Optional<StockReport> findReport(long productId) {
		return this.jdbc.sql("""
				select product_id, initial_count, count as remaining,
					(select coalesce(sum(o.count), 0) from orders o where o.product_id = s.product_id) as sold
				from mall_stock s where product_id = ?""")
			.param(productId)
			.query((row, number) -> StockReport.of(row.getLong("product_id"), row.getInt("initial_count"),
					row.getInt("remaining"), row.getLong("sold")))
			.optional();
	}

}
