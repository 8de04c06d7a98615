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

	public long getVersion(long productId) {
		return this.jdbc.sql("select version from mall_stock where product_id = ?")
			.param(productId)
			.query(Long.class)
			.optional()
			.orElseThrow(() -> new UnknownProductException(productId));
	}

	/**
	 * Lock a product until the transaction ends.
	 */
	public void lock(long productId) {
		this.jdbc.sql("select count from mall_stock where product_id = ? for update")
			.param(productId)
			.query(Integer.class)
			.optional();
	}

	/**
	 * Return whether the units were left, and are deducted now.
	 */
	public boolean deductIfLeft(long productId, int count) {
		this.writeDelay.await(productId);
		return this.jdbc
			.sql("update mall_stock set count = count - ?, version = version + 1 where product_id = ? and count >= ?")
			.params(count, productId, count)
			.update() > 0;
	}

	/**
	 * Return whether the version was still the same, and the count is set now.
	 */
	public boolean updateCountOfVersion(long productId, int count, long version) {
		this.writeDelay.await(productId);
		return this.jdbc
			.sql("update mall_stock set count = ?, version = version + 1 where product_id = ? and version = ?")
			.params(count, productId, version)
			.update() > 0;
	}

	/**
	 * Count attempts that found another version, apart from any transaction that may roll
	 * back.
	 */
	public void addFailedAttempts(long productId, int attempts) {
		this.jdbc.sql("update failed_attempts set attempts = attempts + ? where product_id = ?")
			.params(attempts, productId)
			.update();
	}

	/**
	 * Claim a product, so that owners with older fencing tokens can no longer write.
	 */
	public void claim(long productId, long fencingToken) {
		int claimed = this.jdbc.sql("update mall_stock set fence = ? where product_id = ? and fence < ?")
			.params(fencingToken, productId, fencingToken)
			.update();
		if (claimed == 0) {
			getCount(productId);
			throw new LateOwnerException(productId);
		}
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
