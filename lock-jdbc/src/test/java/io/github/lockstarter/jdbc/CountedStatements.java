// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Passes statements on to a real database and remembers them.
 */
class CountedStatements extends DelegatingDataSource {

	private final List<String> statements = new CopyOnWriteArrayList<>();

	CountedStatements(DataSource target) {
		super(target);
	}

	/**
	 * Return the statements, commits and roll-backs since the last call.
	 */
	List<String> take() {
		List<String> taken = List.copyOf(this.statements);
		this.statements.clear();
		return taken;
	}

	/**
	 * Return the statement to run instead.
	 */
	String replace(String statement) throws SQLException {
		return statement;
	}

	void count(String statement) throws SQLException {
		this.statements.add(statement);
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection connection = super.getConnection();
		return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
				(proxy, method, arguments) -> {
					switch (method.getName()) {
						case "prepareStatement" -> {
							count((String) arguments[0]);
							arguments[0] = replace((String) arguments[0]);
						}
						case "commit", "rollback" -> count(method.getName());
						default -> {
						}
					}
					try {
						return method.invoke(connection, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

}
