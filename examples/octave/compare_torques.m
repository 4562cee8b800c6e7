function compare_torques(model_file, states_file, torques_file)
% COMPARE_TORQUES  Compares a model from psdm derive --export, evaluated here, with torques from psdm eval. Runs in MATLAB and in GNU Octave.
%
%   psdm derive robot.yaml --export model.mat
%   psdm eval robot.yaml inverse --in states.csv --out torques.csv
%
%   compare_torques('model.mat', 'states.csv', 'torques.csv')
%
% Fails if they differ by more than rounding errors.

  model = load(model_file);
  states = dlmread(states_file, ',', 1, 0);
  want = dlmread(torques_file, ',', 1, 0);
  n = size(want, 2);
  [q, qd, qdd] = deal(states(:, 1:n), states(:, n + 1:2 * n), states(:, 2 * n + 1:3 * n));
  tic;
  [tau, Y] = evaluate_model(model, q, qd, qdd);
  seconds = toc;

  % sums of p l products: their rounding errors add up like a random walk; terms may cancel, which the factor of 100 covers
  [p, l, ~] = size(model.P);
  allowed = 100 * sqrt(p * l) * eps;
  error_of_tau = max(abs(tau(:) - want(:))) / max(abs(want(:)));
  product = zeros(size(tau));
  for i = 1:size(tau, 1)
    product(i, :) = (Y(:, :, i) * model.theta)';
  end
  error_of_Y = max(abs(product(:) - want(:))) / max(abs(want(:)));
  fprintf('%d joints, %d functions, %d base parameters, %d states in %.3g s: tau off by %.1e, Y theta by %.1e of the largest torque (allowed %.1e)\n', ...
          n, p, l, size(tau, 1), seconds, error_of_tau, error_of_Y, allowed);
  if ~(error_of_tau <= allowed && error_of_Y <= allowed)
    error('compare_torques: the torques differ');
  end
end
