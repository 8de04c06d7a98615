// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

import io.github.lockstarter.LockException;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.sample.stock.DeductionStrategy.BusyException;
import io.github.lockstarter.sample.stock.DeductionStrategy.SoldOutException;
import io.github.lockstarter.sample.stock.DeductionStrategy.UnknownProductException;

/**
 * Maps exceptions to HTTP responses.
 */
@RestControllerAdvice
class StockErrors {

	private static final Log logger = LogFactory.getLog(StockErrors.class);

	@ExceptionHandler
	ProblemDetail soldOut(SoldOutException ex) {
		return problem(HttpStatus.CONFLICT, ex);
	}

	@ExceptionHandler
	ProblemDetail unknownProduct(UnknownProductException ex) {
		return problem(HttpStatus.NOT_FOUND, ex);
	}

	/**
	 * Contended, interrupted or too late: nothing was sold, and a retry may help.
	 */
	@ExceptionHandler({ LockException.class, BusyException.class })
	ResponseEntity<ProblemDetail> noLock(RuntimeException ex) {
		return tryAgain("Busy", String.valueOf(ex.getMessage()));
	}

	/**
	 * Nothing was sold either. The answer of the store is logged and not shown to
	 * customers.
	 */
	@ExceptionHandler
	ResponseEntity<ProblemDetail> noAnswer(LockUnavailableException ex) {
		logger.warn(ex.getMessage());
		return tryAgain("Lock unavailable", "Lock '" + ex.getKey() + "' is unavailable; nothing was sold");
	}

	/**
	 * The sale may have happened, so the response does not suggest a retry.
	 */
	@ExceptionHandler
	ProblemDetail lostLock(LockLostException ex) {
		return problem(HttpStatus.INTERNAL_SERVER_ERROR, ex);
	}

	private static ResponseEntity<ProblemDetail> tryAgain(String title, String detail) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, detail);
		problem.setTitle(title);
		return ResponseEntity.status(problem.getStatus()).header(HttpHeaders.RETRY_AFTER, "1").body(problem);
	}

	private static ProblemDetail problem(HttpStatus status, RuntimeException ex) {
		return ProblemDetail.forStatusAndDetail(status, String.valueOf(ex.getMessage()));
	}

}
